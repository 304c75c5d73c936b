import type { Outside } from '../../kernel/outside.ts';
import { commit } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import { NOTHING_FOUND } from '../../markdown/found.ts';
import { render } from '../../markdown/render.ts';
import { directConversation } from '../../model/message/conversation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { verbatim } from './channel-notice.ts';
import { type Draft, doSend } from './send.ts';
import { directDelivery } from './send-direct.ts';

/** At most one notice to an owner in this time, ms (wire facts 3.5). */
const INTERVAL = 5 * 60_000;

/**
 * Tells the owner of a bot, in a direct message of the notice bot's, that its message reached nobody, since the
 * channel has this fault. Does nothing for people, and for bots whose owner is gone. The bot's own reply does not
 * depend on it: whatever fails here is only reported.
 */
export async function noticeForOwner(
  outside: Outside,
  log: Log,
  { user, owner, realm }: Caller,
  channel: string,
  fault: string,
): Promise<void> {
  if (user.ownerId === undefined || owner === undefined) return;
  const text = `Your bot ${verbatim(user.email)} wrote to the channel ${verbatim(channel)}, which ${fault}.`;
  try {
    await sendNotice(outside, log, realm.noticeBotId, user.ownerId, text);
  } catch (error) {
    outside.report({ level: 'WARN', notice: error instanceof Error ? error.message : String(error) });
  }
}

async function sendNotice(outside: Outside, log: Log, from: number, to: number, text: string): Promise<void> {
  const { realm } = log;
  const people = [from, to].sort((a, b) => a - b);
  const noticeKey = key('notice', { realm, userId: to });
  const conversationKey = key('conversation', { realm, conversation: directConversation(people) });
  const rendered = render(text, NOTHING_FOUND);
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
