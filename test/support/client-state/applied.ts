import { capabilityNames } from '../../../shared/domain/event/queue.ts';
import { applyChannels } from './apply-channels.ts';
import { applyMessages } from './apply-messages.ts';
import { applyPeople } from './apply-people.ts';
import { applyPersonal } from './apply-personal.ts';
import { applyRealm } from './apply-realm.ts';
import { type Applying, type Json, type Kind, type Known, knownFrom } from './known.ts';

/** What clients make of each event, by its name. */
export const applying: Applying = {
  ...applyChannels,
  ...applyMessages,
  ...applyPeople,
  ...applyPersonal,
  ...applyRealm,
  heartbeat: () => {},
  // Clients fetch the list again; a registration does not have it.
  invites_changed: () => {},
};

/** Everything that a client can say of itself. */
const modern: Kind = {
  parameters: {
    client_capabilities: Object.fromEntries(capabilityNames.map((name) => [name, true])),
    include_subscribers: true,
    slim_presence: true,
    client_gravatar: true,
  },
  archivedChannels: true,
  deactivatedGroups: true,
  emptyTopicName: true,
  linkifiers: true,
  subscribers: true,
};

/** Nothing of it; who is subscribed matters to it, as to the terminal client. */
const old: Kind = {
  parameters: { client_capabilities: {}, include_subscribers: true },
  archivedChannels: false,
  deactivatedGroups: false,
  emptyTopicName: false,
  linkifiers: false,
  subscribers: true,
};

/** A program that wants neither subscribers nor to work out pictures. */
const plain: Kind = {
  ...old,
  parameters: { client_capabilities: {}, client_gravatar: false },
  subscribers: false,
};

export const kinds = { modern, old, plain } as const;

/** Fetches what cannot be worked out from events. */
export function fetchStale(known: Known, state: Json): void {
  if (known.stale.has('realm_bots')) known.state.realm_bots = state.realm_bots;
  if (known.stale.has('unread_msgs')) {
    known.unread.clear();
    for (const [id, unread] of knownFrom(state, known.kind).unread) known.unread.set(id, unread);
  }
  known.stale.clear();
}
