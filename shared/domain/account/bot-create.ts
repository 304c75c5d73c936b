import type { Change } from '../../log/commit.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import { doHaveNewBot } from '../../model/user/active.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { botAddedEvents, type botDefaults } from './bot.ts';
import { doCreateUser, type NewBot, type NewUser } from './user-create.ts';

/** A bot that was decided on. */
export interface DecidedBot extends NewBot {
  readonly user: NewUser;
  readonly keyDigest: string;
  /** What is set for it, as clients are told. */
  readonly defaults: ReturnType<typeof botDefaults>;
}

/**
 * Creates a bot of the caller's: the account, what is set for it, and what clients are told. `numbers` are one for
 * each event; the first one is the bot's id.
 */
export function doCreateBot(
  { realmId, realm, standing }: Pick<Caller, 'realmId' | 'realm' | 'standing'>,
  { user, keyDigest, defaults, ...bot }: DecidedBot,
  numbers: readonly number[],
): Change<User> {
  const userId = numbers[0] ?? 0;
  const created = doCreateUser(realmId, userId, user, keyDigest, bot);
  const joined = Date.parse(user.dateJoined);
  const isFull = isFullMember(user, realm.settings.waiting_period_threshold, joined);
  return {
    writes: [...created.writes, doHaveNewBot(realmId, standing.userId, userId)],
    entries: [
      ...created.entries,
      ...roleGroupEvents(userId, user.role, isFull),
      ...botAddedEvents(standing, userId, defaults),
    ],
    result: created.result,
  };
}
