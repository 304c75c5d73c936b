import { noGroups } from '../../kernel/group-graph.ts';
import { HOME, realmIdFor } from '../../kernel/lookup.ts';
import { doLimitOrganization } from '../../model/channel/retention.ts';
import { roles } from '../../model/permission/system-group.ts';
import { ANY_HOST, hostsWrite } from '../../model/realm/hosts.ts';
import { defaultRealmSettings, type Realm, type RealmSettings } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doCreateUser } from '../account/user-create.ts';

/** A new organization. */
export interface NewOrganization {
  /** The host it answers at. Without one it is the default organization. */
  readonly host?: string | undefined;
  /** Whether it answers at every host that nobody registered too. */
  readonly isDefault?: boolean;
  readonly name: string;
  readonly uuid: string;
  /** Milliseconds. */
  readonly now: number;
  readonly settings?: Partial<RealmSettings>;
}

/** Full name and address of the account in whose name the service itself speaks. */
export const NOTICES = { fullName: 'Notification Bot', email: 'notification-bot@parlance.invalid' };

/**
 * Creates an organization with nobody in it but the bot that speaks for the service. Returns the realm's id, its
 * hosts and the writes; the caller adds the first people, and the counter with the last number that was used.
 */
export function doCreateOrganization(
  given: NewOrganization,
  noticeBotId: number,
): { realm: string; hosts: readonly string[]; writes: Write[] } {
  const { host } = given;
  const isHome = given.isDefault === true || host === undefined;
  const realm = isHome ? HOME : realmIdFor(host);
  const hosts = [...(isHome ? [ANY_HOST] : []), ...(host === undefined ? [] : [host])];
  const item: Realm = {
    uuid: given.uuid,
    name: given.name,
    description: '',
    stringId: isHome ? '' : (host.split('.')[0] ?? ''),
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
    hosts,
    writes: [
      ...hosts.map((each) => ({ put: key('host', { host: each }), item: { realm }, when: { absent: true } })),
      hostsWrite({ realm, version: 0 }, hosts),
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
