import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { roles } from '../group/system-group.ts';
import { noGroups } from '../permission.ts';
import { HOME, realmIdFor } from '../pointer.ts';
import { doLimitOrganization } from '../retention/retention-list.ts';
import { doCreateUser } from '../user/user-create.ts';
import { defaultRealmSettings, type Realm, type RealmSettings } from './realm.ts';

/** A new organization. */
export interface NewOrganization {
  /** The host it answers at; without one it is the home organization, which answers everywhere else. */
  readonly host?: string;
  readonly name: string;
  readonly uuid: string;
  /** Milliseconds. */
  readonly now: number;
  readonly settings?: Partial<RealmSettings>;
}

/** Full name and address of the account in whose name the service itself speaks. */
const NOTICES = { fullName: 'Notification Bot', email: 'notification-bot@parlance.invalid' };

/**
 * Creates an organization with nobody in it but the bot that speaks for the service. Returns the realm's id and the
 * writes; the caller adds the first people, and the counter with the last number that was used.
 */
export function doCreateOrganization(
  given: NewOrganization,
  noticeBotId: number,
): { realm: string; writes: Write[] } {
  const realm = given.host === undefined ? HOME : realmIdFor(given.host);
  const item: Realm = {
    uuid: given.uuid,
    name: given.name,
    description: '',
    stringId: given.host === undefined ? '' : (given.host.split('.')[0] ?? ''),
    created: Math.floor(given.now / 1000),
    deactivated: false,
    version: 1,
    noticeBotId,
    settings: { ...defaultRealmSettings, ...given.settings },
  };
  const notices = doCreateUser(
    realm,
    noticeBotId,
    {
      ...NOTICES,
      role: roles.member,
      isBot: true,
      dateJoined: new Date(given.now).toISOString(),
      timezone: '',
    },
    // No key has this digest, so nobody can sign in as the bot.
    'f'.repeat(64),
  );
  return {
    realm,
    writes: [
      { put: key('host', { host: given.host ?? '*' }), item: { realm }, when: { absent: true } },
      { put: key('realm', { realm }), item: { ...item }, when: { absent: true } },
      { put: key('groupGraph', { realm }), item: { ...noGroups } },
      ...doLimitOrganization(realm, { after: item.settings.message_retention_days }, item.version),
      ...notices.writes,
    ],
  };
}

/** The counter of a new organization, standing at the last number that its creation used. */
export const counterWrite = (realm: string, last: number): Write => ({
  put: key('counter', { realm }),
  item: { seq: last },
});

/** The floor of a new organization's log: its creation is not told, so nothing before the next number is missing. */
export const floorWrite = (realm: string, last: number): Write => ({
  put: key('solid', { realm }),
  item: { seq: last },
});
