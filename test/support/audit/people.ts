import { folded } from '../../../shared/kernel/text.ts';
import type { Subscription } from '../../../shared/model/channel/channel.ts';
import { isHumanOwner } from '../../../shared/model/user/activation.ts';
import type { User } from '../../../shared/model/user/user.ts';
import type { Table } from '../../../shared/table/table.ts';
import type { Ledger } from './ledger.ts';

/** A user with what is stored under them of channels and groups. */
export interface Audited extends User {
  readonly subscriptions: readonly Subscription[];
  readonly groupIds: readonly number[];
  readonly policies: readonly { channelId: number; topic: string; policy: number }[];
}

/** Holds the accounts of an organization to their addresses, names, bots and owners, and returns them. */
export async function auditPeople(table: Table, realm: string, ledger: Ledger): Promise<Audited[]> {
  const users = await table.all('user', { realm });
  ledger.unique(
    'an email address',
    users.map(({ email }) => folded(email)),
  );
  for (const { userId, email, fullName } of users) {
    const [account, named] = await Promise.all([
      table.get('account', { realm, email: folded(email) }),
      table.get('fullName', { realm, name: folded(fullName) }),
    ]);
    ledger.same(`the address of user ${userId} leads to`, account?.userId, userId);
    ledger.same(`the name of user ${userId} leads to them`, named?.users?.has(userId), true);
  }
  const owners = users.filter((user) => user.isActive && isHumanOwner(user));
  const stored = await table.get('owners', { realm });
  ledger.same('active owners', stored?.count, owners.length);
  await auditBots(table, realm, users, ledger);
  return Promise.all(users.map((user) => withBelongings(table, realm, user)));
}

async function auditBots(table: Table, realm: string, users: readonly User[], ledger: Ledger): Promise<void> {
  const owned = Map.groupBy(users, ({ ownerId }) => ownerId);
  const items = await table.all('bot', { realm });
  const bots = users.flatMap(({ userId, ownerId }) => (ownerId === undefined ? [] : [userId]));
  ledger.same(
    'bots that somebody owns',
    items.map(({ userId }) => userId),
    bots,
  );
  for (const user of users) {
    const theirs = (owned.get(user.userId) ?? []).map(({ userId }) => userId);
    ledger.same(`bots of user ${user.userId}`, user.bots ?? [], theirs);
  }
}

async function withBelongings(table: Table, realm: string, user: User): Promise<Audited> {
  const { userId } = user;
  const [subscriptions, memberships, policies] = await Promise.all([
    table.all('subscription', { realm, userId }),
    table.all('membership', { realm, userId }),
    table.all('userTopic', { realm, userId }),
  ]);
  return { ...user, subscriptions, groupIds: memberships.map(({ groupId }) => groupId), policies };
}
