import { commit, Stale } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import type { Rendered } from '../../markdown/render.ts';
import { key } from '../../table/keys.ts';
import { directConversation } from '../message/conversation.ts';
import type { Outside } from '../outside.ts';
import type { Conversation } from './direct.ts';
import { type Draft, doSend } from './send.ts';
import { directDelivery } from './send-direct.ts';

/** What the service says to one person. */
export interface DirectNotice {
  readonly to: number;
  /** Markdown, and what it becomes. */
  readonly content: string;
  readonly rendered: Rendered;
}

/** Notices in one transaction: each takes four writes where it begins a conversation. */
const TOGETHER = 20;
/** Transactions under way at once. */
const WIDTH = 4;
/** How often a transaction is tried when conversations change meanwhile. */
const TRIES = 4;

/**
 * Says something to some people, in direct messages of the bot that speaks for the service, a few in one transaction.
 * What it tells of has happened already, so whatever fails here is only reported, and tried no second time by a
 * repeated request: nobody is told twice.
 */
export async function sendDirectNotices(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const waiting = [...notices];
  const walk = async (): Promise<void> => {
    for (let some = waiting.splice(0, TOGETHER); some.length > 0; some = waiting.splice(0, TOGETHER)) {
      await sendSome(outside, log, noticeBotId, some).catch((error) =>
        outside.report({ level: 'WARN', notice: error instanceof Error ? error.message : String(error) }),
      );
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, walk));
}

async function sendSome(
  outside: Outside,
  log: Log,
  noticeBotId: number,
  notices: readonly DirectNotice[],
): Promise<void> {
  const { realm } = log;
  const peopleOf = ({ to }: DirectNotice): number[] => [noticeBotId, to].sort((a, b) => a - b);
  for (let attempt = 1; ; attempt++) {
    const conversations = await Promise.all(
      notices.map((notice) =>
        outside.table.get<Conversation>(
          key('conversation', { realm, conversation: directConversation(peopleOf(notice)) }),
        ),
      ),
    );
    const now = outside.now();
    try {
      await commit(log, notices.length, (numbers) => {
        const sends = notices.map((notice, i) => {
          const { content, rendered } = notice;
          const draft: Draft = {
            senderId: noticeBotId,
            client: 'Internal',
            content,
            readBySender: false,
            now,
          };
          const delivery = directDelivery(realm, peopleOf(notice), conversations[i], rendered);
          return doSend(realm, draft, delivery, [numbers[i] as number]);
        });
        return {
          writes: sends.flatMap(({ writes }) => writes),
          entries: sends.flatMap(({ entries }) => entries),
          result: undefined,
        };
      });
      return;
    } catch (error) {
      // One of the conversations began at this very moment: look again.
      if (!(error instanceof Stale) || attempt === TRIES) throw error;
    }
  }
}
