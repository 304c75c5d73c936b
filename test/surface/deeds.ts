import fc from 'fast-check';
import {
  archivesChannel,
  changesPrivacy,
  choosesDefaults,
  choosesModeration,
  createsChannel,
  createsFolder,
  editsChannel,
  editsFolder,
  saysSomething,
  subscribes,
  unsubscribes,
} from './channel-deeds.ts';
import type { Deed } from './deed.ts';
import {
  bringsBack,
  changesMembers,
  changesSubgroups,
  createsGroup,
  deactivatesGroup,
  editsGroup,
  givesRole,
  sendsAway,
} from './people-deeds.ts';

const weighted = (weight: number, ...kinds: fc.Arbitrary<Deed>[]) =>
  kinds.map((arbitrary) => ({ weight, arbitrary }));

/** Anything that is done to channels, folders, groups, subscriptions and roles; most of all who may see what. */
export const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  ...weighted(6, editsChannel, changesPrivacy),
  ...weighted(4, subscribes, unsubscribes, changesMembers),
  ...weighted(3, createsChannel, changesSubgroups, givesRole),
  ...weighted(2, saysSomething, createsGroup, editsGroup, deactivatesGroup, editsFolder, bringsBack),
  ...weighted(1, archivesChannel, choosesDefaults, choosesModeration, createsFolder, sendsAway),
);
