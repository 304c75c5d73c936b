import { folded } from '../../kernel/folding.ts';
import type { Change } from '../../log/commit.ts';
import { type Namesakes, nameWrite } from '../../model/user/namesakes.ts';
import { userObject } from '../../model/user/object.ts';
import { countOwner, isHumanOwner } from '../../model/user/owner-count.ts';
import type { Account, User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { type BotSettings, ownBot } from './bot.ts';

/** A new account before it has an id. */
export type NewUser = Omit<User, 'userId' | 'isActive' | 'avatarVersion'>;

/** What else is decided on when the account is a bot. */
export interface NewBot {
  readonly set: BotSettings;
  /** Those who were seen to bear the name, so that it is still free when the bot is made. */
  readonly namesakes: Namesakes;
}

/**
 * Creates an account: the user, the guard of its address with the digest of its key, its name for mentions, and
 * the event that tells everybody.
 */
export function doCreateUser(
  realm: string,
  userId: number,
  given: NewUser,
  keyDigest: string,
  bot?: NewBot,
): Change<User> {
  const user: User = { ...given, userId, isActive: true, avatarVersion: 1 };
  const account: Account = {
    userId,
    keyDigest,
    ...(given.ownerId !== undefined && { ownerId: given.ownerId }),
  };
  const writes: Write[] = [
    { put: key('user', { realm, userId }), item: { ...user } },
    {
      put: key('account', { realm, email: folded(given.email) }),
      item: { ...account },
      when: { absent: true },
    },
    nameWrite(realm, given.fullName, userId, bot?.namesakes),
  ];
  if (given.ownerId !== undefined) writes.push(ownBot(realm, given.ownerId, { userId, ...bot?.set }));
  if (isHumanOwner(user)) writes.push(countOwner(realm, userId));
  return {
    writes,
    entries: [
      {
        kind: 'event',
        hearers: { everyone: 'all' },
        payload: {
          type: 'realm_user',
          op: 'add',
          person: userObject(user, { clientGravatar: false, profile: () => ({}) }),
        },
        access: true,
      },
    ],
    result: user,
  };
}
