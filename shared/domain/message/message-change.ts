import type { Log } from '../../log/log.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { Commit } from '../bulk.ts';
import type { Caller } from '../caller.ts';
import type { Channel } from '../channel/channel.ts';
import type { Seen } from '../channel/channel-access.ts';
import type { Target } from '../fetch/message-target.ts';
import type { Outside } from '../outside.ts';
import { loadPolicies, movePolicies } from '../topic/policy-move.ts';
import { thinOut } from '../topic/topic-leave.ts';
import { noticeEntry, sendNotice } from '../topic/topic-notice.ts';
import { doRevise, type Rewrite } from './message-revision.ts';
import { newFollowers, type RewriteGround } from './message-rewrite.ts';
import type { Relocating } from './message-update.ts';
import { checkMove, isResolved } from './move-check.ts';
import { type Moved, noticeInNew, noticeInOld } from './move-notice.ts';
import { LONGEST, moveOthers } from './move-others.ts';
import { loadStep, type Move, mergesInto, planStep } from './move-step.ts';
import { checkMoveTime, checkTopicMoveTime, moveLimit } from './move-time.ts';
import { updateEvent } from './update-event.ts';

/** New content that was decided on. */
export interface Rewriting {
  readonly rewrite: Rewrite;
  readonly ground: RewriteGround;
}

/** Changes the content of a message, in one transaction. */
export async function rewriteMessage(
  { caller, commit, now }: { readonly caller: Caller; readonly commit: Commit; readonly now: number },
  { message, seen }: Target,
  { rewrite, ground }: Rewriting,
): Promise<void> {
  const { realmId: realm, user } = caller;
  const { userId } = user;
  const followers = newFollowers(realm, message, rewrite, ground, now);
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

interface MoveContext {
  readonly caller: Caller;
  readonly outside: Outside;
  readonly log: Log;
  readonly commit: Commit;
  readonly now: number;
}

/** How messages are to be moved. */
interface Manner {
  readonly mode: Move['mode'];
  readonly rewriting: Rewriting | undefined;
  /** Whether the old topic and the new one are told of it. */
  readonly inOld: boolean;
  readonly inNew: boolean;
}

/**
 * Moves a message, and perhaps others of its topic with it, and tells both topics of it. All is decided before the
 * first of them moves; the message that was asked for moves last, with its new content if it gets any.
 */
export async function moveMessages(
  { caller, outside, log, commit, now }: MoveContext,
  { message, seen }: { readonly message: MessageSlot; readonly seen: Seen },
  relocating: Relocating,
  { mode, rewriting, inOld, inNew }: Manner,
): Promise<void> {
  const { table, uuid } = outside;
  const { to, target, ground } = relocating;
  const { realmId: realm, user } = caller;
  const { channel } = seen;
  const from = { channelId: channel.channelId, topic: message.topic ?? '' };
  const asked = { from: { channel, topic: from.topic }, to };
  const targetChannel: Channel = checkMove(caller, asked, target, ground.topic);
  const limit = moveLimit(caller, asked);
  if (limit !== undefined) {
    checkMoveTime(message, limit, now);
    if (mode === 'change_all')
      await checkTopicMoveTime(outside, caller, { message, seen, ground }, limit, now);
  }

  const ends = outside.now() + LONGEST;
  const move: Move = { from, to, mode, userId: user.userId };
  const updated = { userId: user.userId, now, relocation: to, mode, channelName: channel.name };
  const others =
    mode === 'change_one'
      ? 0
      : await moveOthers(
          {
            outside,
            caller,
            commit,
            seen,
            move,
            ends,
            event: (messages) => updateEvent(messages[0] ?? message, messages, updated),
          },
          message,
        );
  const [last, policies] =
    mode === 'change_one'
      ? [ground, relocating.policies]
      : await Promise.all([
          loadStep(table, realm, move, [message]),
          loadPolicies(table, realm, { from, to }, 'all'),
        ]);
  const left = await thinOut(table, realm, { ...from, ids: [message.id] }, last.left, uuid);
  const rewrite = rewriting?.rewrite;
  const stored = last.left.topic;
  const isWhole = stored !== undefined && stored.arrived - stored.left === 1;
  // What is left of the topic after `change_all` is nothing that the caller can see.
  const beside =
    isWhole || mode === 'change_all'
      ? await movePolicies(
          { outside, caller, commit, ends },
          { from, to, channel: targetChannel, merges: mergesInto(move, ground.topic) },
          policies,
        )
      : { writes: [], entries: [] };
  const moved: Moved = {
    from: { channel, topic: from.topic },
    to: { channel: targetChannel, topic: to.topic },
    count: others + 1,
    isWhole,
    ...(to.isResolution && { resolution: isResolved(to.topic) ? 'resolved' : 'unresolved' }),
  };
  const { count, plan } = planStep(realm, move, {
    messages: [message],
    ground: { ...last, left },
    event: updateEvent(message, [message], { ...updated, rewrite }),
    now,
    rewrite,
    notice: inNew ? noticeEntry(caller, noticeInNew(caller, moved), now) : undefined,
    last: beside,
  });
  await commit(count, plan);
  if (inOld) await sendNotice(outside, log, caller, noticeInOld(caller, moved));
}
