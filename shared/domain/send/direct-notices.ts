import type { Outside } from '../../kernel/outside.ts';
import { commit, MAX_WRITES } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import type { Rendered } from '../../markdown/render.ts';
import { directConversation } from '../../model/message/conversation.ts';
import { runPool } from '../../pool.ts';
import { type Draft, doSend } from './send.ts';
import { directDelivery } from './send-direct.ts';
import { type SendToken, sentKey } from './sent.ts';

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
