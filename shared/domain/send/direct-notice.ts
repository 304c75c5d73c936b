import { traceOf } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { commit, MAX_WRITES } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import { directConversation } from '../../model/message/message.ts';
import type { Caller } from '../../model/user/caller.ts';
import { runPool } from '../../pool.ts';
import { key } from '../../table/keys.ts';
import { inlineCode } from './notice.ts';
import { type Draft, doSend, type SendToken, sentKey } from './send.ts';
import { directDelivery } from './target.ts';

/** What the service says to one person. */
export interface DirectNotice {
  readonly to: number;
  /** Markdown, and what it becomes. */
  readonly content: string;
  readonly rendered: Rendered;
  /** By this it is known that it was said. */
  readonly token: SendToken;
}

/** Writes of a notice that begins a conversation: the message, the conversation, its two people, and its memory. */
const WRITES = 5;
/** Notices in one transaction. */
const TOGETHER = MAX_WRITES / WRITES;
/** Transactions under way at once. */
const WIDTH = 4;

/**
 * Says something to some people, in direct messages of the bot that speaks for the service, a few in one transaction.
 * Each is remembered by the transaction that says it, so nobody is told twice, however often this is done. Throws
 * where some could not be told, after all others were.
 */
export async function sendDirectNotices(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const batches = Map.groupBy(notices.entries(), ([i]) => Math.floor(i / TOGETHER));
  const failures = await runPool(batches.values(), WIDTH, (batch) =>
    sendSome(
      outside,
      log,
      noticeBotId,
      batch.map(([, notice]) => notice),
    ),
  );
  if (failures.length > 0) throw new AggregateError(failures, 'some people could not be told');
}

async function sendSome(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const { realm } = log;
  const peopleOf = ({ to }: DirectNotice): number[] => [noticeBotId, to].sort((a, b) => a - b);
  // One of the conversations may begin at this very moment, or another run be faster.
  return retryOnConflict(outside, async () => {
    const seen = await Promise.all(
      notices.map(async (notice) => {
        const [conversation, sent] = await Promise.all([
          outside.table.get('conversation', { realm, conversation: directConversation(peopleOf(notice)) }),
          outside.table.get(sentKey(realm, noticeBotId, notice.token.echo)),
        ]);
        return { notice, conversation, isSent: sent !== undefined };
      }),
    );
    const open = seen.filter(({ isSent }) => !isSent);
    if (open.length === 0) return;
    const now = outside.now();
    await commit(log, open.length, (numbers) => {
      const sends = open.map(({ notice, conversation }, i) => {
        const { content, rendered, token } = notice;
        const draft: Draft = {
          senderId: noticeBotId,
          client: 'Internal',
          content,
          readBySender: false,
          token,
          now,
        };
        const delivery = directDelivery(realm, peopleOf(notice), conversation, rendered);
        return doSend(realm, draft, delivery, [numbers[i] as number]);
      });
      return {
        writes: sends.flatMap(({ writes }) => writes),
        entries: sends.flatMap(({ entries }) => entries),
        result: undefined,
      };
    });
  });
}

/** At most one notice to an owner in this time, ms (wire facts 3.5). */
const INTERVAL = 5 * 60_000;

/**
 * Tells the owner of a bot, in a direct message of the notice bot's, that its message reached nobody, since the
 * channel has this fault. Does nothing for people, and for bots whose owner is gone. The bot's own reply does not
 * depend on it: whatever fails here is only reported.
 */
export async function sendOwnerNotice(
  outside: Outside,
  log: Log,
  { user, owner, realm }: Caller,
  channel: string,
  fault: string,
): Promise<void> {
  if (user.ownerId === undefined || owner === undefined) return;
  const text = `Your bot ${inlineCode(user.email)} wrote to the channel ${inlineCode(channel)}, which ${fault}.`;
  try {
    await sendNotice(outside, log, realm.noticeBotId, user.ownerId, text);
  } catch (error) {
    outside.report({ level: 'WARN', message: 'bot owner not notified', error: traceOf(error) });
  }
}

async function sendNotice(outside: Outside, log: Log, from: number, to: number, text: string): Promise<void> {
  const { realm } = log;
  const people = [from, to].sort((a, b) => a - b);
  const noticeKey = key('notice', { realm, userId: to });
  const conversationKey = key('conversation', { realm, conversation: directConversation(people) });
  const rendered = render(text, NOTHING_RESOLVED);
  // Another notice may be sent, or the conversation begin, at this very moment.
  await retryOnConflict(outside, async () => {
    const [notice, conversation] = await Promise.all([
      outside.table.get(noticeKey),
      outside.table.get(conversationKey),
    ]);
    const now = outside.now();
    if (notice !== undefined && notice.at > now - INTERVAL) return;
    const draft: Draft = { senderId: from, client: 'Internal', content: text, readBySender: false, now };
    const delivery = directDelivery(realm, people, conversation, rendered);
    await commit(log, 1, (numbers) => {
      const change = doSend(realm, draft, delivery, numbers);
      const mark = { put: noticeKey, item: { at: now }, when: { below: { at: now - INTERVAL + 1 } } };
      return { ...change, writes: [...change.writes, mark] };
    });
  });
}
