import type { Commit } from '../../log/bulk.ts';
import { doRevise, type Rewrite, updateEvent } from '../../model/message/revision.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Target } from '../reader/target.ts';
import { newFollowers, type RewriteSnapshot } from './rewrite.ts';

/** New content that has passed all checks. */
export interface Rewriting {
  readonly rewrite: Rewrite;
  readonly snapshot: RewriteSnapshot;
}

/** Changes the content of a message, in one transaction. */
export async function rewriteMessage(
  { caller, commit, now }: { readonly caller: Caller; readonly commit: Commit; readonly now: number },
  { message, seen }: Target,
  { rewrite, snapshot }: Rewriting,
): Promise<void> {
  const { realmId: realm, user } = caller;
  const { userId } = user;
  const followers = newFollowers(realm, message, rewrite, snapshot, now);
  const channelName = seen?.channel.name;
  const event = updateEvent(message, [message], { userId, now, rewrite, channelName });
  await commit(followers.entries.length + 1, (numbers) => ({
    writes: [
      ...doRevise(realm, message, { seq: numbers.at(-1) as number, userId, now, rewrite }),
      ...followers.writes,
    ],
    entries: [...followers.entries, event],
    result: undefined,
  }));
}
