import { traceOf } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { chunksOf, uniqueSorted } from '../../lists.ts';
import { type Change, commit, MAX_WRITES, retryOnConflict } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import { directConversation } from '../../model/message/message.ts';
import type { Caller } from '../../model/user/caller.ts';
import { runPool } from '../../pool.ts';
import { key } from '../../table/keys.ts';
import { inlineCode } from './notice.ts';
import { type Draft, doSend, type SendReply, type SendToken, sentKey } from './send.ts';
import { directDelivery } from './target.ts';

/** A direct message of the notice bot. */
export interface DirectNotice {
  readonly to: number;
  /** Markdown. */
  readonly content: string;
  readonly rendered: Rendered;
  /** Identifies a retry. */
  readonly token: SendToken;
}

/** Writes of the first notice in a conversation: the message, the conversation, its two people, and the retry record. */
const WRITES_PER_NOTICE = 5;
const NOTICES_PER_TRANSACTION = MAX_WRITES / WRITES_PER_NOTICE;
const CONCURRENCY = 4;

/**
 * Sends direct messages of the notice bot, several in one transaction. Each transaction records what it sent, so a retry
 * sends nothing twice. Throws an `AggregateError` if some failed, after all others were sent.
 */
export async function sendDirectNotices(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const batches = chunksOf(notices, NOTICES_PER_TRANSACTION);
  const failures = await runPool(batches, CONCURRENCY, (batch) =>
    sendBatch(outside, log, noticeBotId, batch),
  );
  if (failures.length > 0) throw new AggregateError(failures, 'some notices could not be sent');
}

async function sendBatch(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const { realm } = log;
  // A conversation may be created concurrently, or another run may be faster.
  return retryOnConflict(outside, async () => {
    const seen = await Promise.all(
      notices.map(async (notice) => {
        const people = peopleOf(noticeBotId, notice.to);
        const [conversation, sent] = await Promise.all([
          outside.table.get('conversation', { realm, conversation: directConversation(people) }),
          outside.table.get(sentKey(realm, noticeBotId, notice.token.echo)),
        ]);
        return { notice, people, conversation, isSent: sent !== undefined };
      }),
    );
    const open = seen.filter(({ isSent }) => !isSent);
    if (open.length === 0) return;
    const now = outside.now();
    await commit(log, open.length, (numbers) => {
      const sends = open.map(({ notice, people, conversation }, i) => {
        const draft = { ...draftOf(noticeBotId, notice.content, now), token: notice.token };
        const delivery = directDelivery(realm, people, conversation, notice.rendered);
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

const peopleOf = (noticeBotId: number, to: number): number[] => uniqueSorted([noticeBotId, to]);

const draftOf = (senderId: number, content: string, now: number): Draft => ({
  senderId,
  client: 'Internal',
  content,
  readBySender: false,
  now,
});

/** The conversation of the notice bot with a user. One round trip. */
export async function loadNoticeConversation(
  { table }: Pick<Outside, 'table'>,
  realm: string,
  noticeBotId: number,
  to: number,
) {
  const people = peopleOf(noticeBotId, to);
  const found = await table.get('conversation', { realm, conversation: directConversation(people) });
  return { noticeBotId, people, found };
}

/** Sends a user a direct message of the notice bot, which takes one number. `now` is in milliseconds. */
export const doSendNotice = (
  realm: string,
  { noticeBotId, people, found }: Awaited<ReturnType<typeof loadNoticeConversation>>,
  content: string,
  now: number,
  numbers: readonly number[],
): Change<SendReply> =>
  doSend(
    realm,
    draftOf(noticeBotId, content, now),
    directDelivery(realm, people, found, render(content, NOTHING_RESOLVED)),
    numbers,
  );

/** At most one notice to an owner in this time (wire facts 3.5). */
const INTERVAL_MS = 5 * 60_000;

/**
 * Sends the owner of a bot a direct message that the bot's message reached nobody, because of this fault of the channel.
 * Does nothing for people, and for bots without an owner. An error is only logged: the bot's request does not fail.
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
  const people = peopleOf(from, to);
  const noticeKey = key('notice', { realm, userId: to });
  const rendered = render(text, NOTHING_RESOLVED);
  // Another notice may be sent, or the conversation created, concurrently.
  await retryOnConflict(outside, async () => {
    const [notice, conversation] = await Promise.all([
      outside.table.get(noticeKey),
      outside.table.get('conversation', { realm, conversation: directConversation(people) }),
    ]);
    const now = outside.now();
    if (notice !== undefined && notice.at > now - INTERVAL_MS) return;
    const delivery = directDelivery(realm, people, conversation, rendered);
    await commit(log, 1, (numbers) => {
      const change = doSend(realm, draftOf(from, text, now), delivery, numbers);
      const mark = { put: noticeKey, item: { at: now }, when: { below: { at: now - INTERVAL_MS + 1 } } };
      return { ...change, writes: [...change.writes, mark] };
    });
  });
}
