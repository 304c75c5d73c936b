import type { Channel, Subscription } from '../../shared/model/channel/channel.ts';
import { type Folder, loadFolders } from '../../shared/model/channel/folder.ts';
import type { Group } from '../../shared/model/group/group.ts';
import type { Realm } from '../../shared/model/realm/realm.ts';
import type { User } from '../../shared/model/user/user.ts';
import type { Person, TestRealm } from '../support/realm.ts';

/** What an organization is like at one moment, as it is stored. */
export interface Known {
  /** Those who do things. */
  readonly people: readonly Person[];
  readonly realm: Realm;
  readonly users: ReadonlyMap<number, User>;
  readonly channels: readonly Channel[];
  readonly folders: readonly Folder[];
  readonly groups: readonly Group[];
  /** Which named groups contain which groups. */
  readonly edges: Readonly<Record<string, readonly number[]>>;
  /** What people are subscribed to, and the named groups that they are direct members of. */
  readonly belongings: ReadonlyMap<number, Belongings>;
}

interface Belongings {
  readonly subscriptions: readonly Subscription[];
  readonly groupIds: readonly number[];
}

/** Reads all of it; nobody may write meanwhile. */
export async function look({ realm, outside }: TestRealm, people: readonly Person[]): Promise<Known> {
  const { table } = outside;
  const [stored, users, channels, { folders }, groups, graph, ...belongings] = await Promise.all([
    table.get('realm', { realm }),
    table.all('user', { realm }),
    table.all('channel', { realm }),
    loadFolders(table, realm),
    table.all('group', { realm }),
    table.get('groupGraph', { realm }),
    ...people.map(async ({ userId }): Promise<[number, Belongings]> => {
      const [subscriptions, memberships] = await Promise.all([
        table.all('subscription', { realm, userId }),
        table.all('membership', { realm, userId }),
      ]);
      return [userId, { subscriptions, groupIds: memberships.map(({ groupId }) => groupId) }];
    }),
  ]);
  if (stored === undefined) throw new Error('there is no organization');
  return {
    people,
    realm: stored,
    users: new Map(users.map((user) => [user.userId, user])),
    channels,
    folders: [...folders.values()],
    groups,
    edges: graph?.edges ?? {},
    belongings: new Map(belongings),
  };
}
