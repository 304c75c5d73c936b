import type { MessageSlot } from '../../log/slot.ts';
import { type RenderOptions, revisionObject, topicName } from '../../model/message/object.ts';
import type { Edit } from '../../model/message/revision.ts';
import { htmlDiff } from './html-diff.ts';
import type { Reader } from './reader.ts';

/** Earlier texts that one reply tells: with the others of a page (1 MB) they fit into it. */
const MAX_EDITS = 100;

/** Bytes of HTML that one reply compares: it tells the newest differences, which take most of its time and much of its room. */
const MAX_COMPARED = 500_000;

/**
 * Reads the earlier texts of a message that are not kept with it, the newest ones if they are many. One round trip, or
 * none where all of them are.
 */
export async function loadHistory(message: MessageSlot, { table, realm }: Reader): Promise<readonly Edit[]> {
  if (!message.history?.some(({ content, before }) => content && before === undefined)) return [];
  const { items } = await table.page(
    'edit',
    { realm, messageId: message.id },
    { descending: true, limit: MAX_EDITS },
  );
  return items;
}

/** The versions of a message, the oldest first, each with what was changed in it (companion facts 1.17). */
export function tellHistory(
  message: MessageSlot,
  edits: readonly Edit[],
  telling: Pick<RenderOptions, 'emptyTopicName'>,
) {
  const texts = new Map(edits.map((edit) => [edit.seq, edit]));
  const versions = [];
  const isChannel = message.channelId !== undefined;
  const named = (topic: string): string => (isChannel ? topicName(topic, telling) : topic);
  let { content, rendered, topic = '' } = message;
  let compared = 0;
  for (const revision of message.history ?? []) {
    const before = revision.content ? (revision.before ?? texts.get(revision.seq)) : undefined;
    if (revision.content && before === undefined) return versions.reverse();
    if (before) compared += Buffer.byteLength(before.rendered) + Buffer.byteLength(rendered);
    versions.push({
      ...revisionObject({ ...revision, ...(before && { before }) }, telling),
      topic: named(topic),
      content,
      rendered_content: rendered,
      ...(before && compared <= MAX_COMPARED && { content_html_diff: htmlDiff(before.rendered, rendered) }),
    });
    if (before) ({ content, rendered } = before);
    topic = revision.topic?.from ?? topic;
  }
  const { senderId, timestamp } = message;
  versions.push({
    user_id: senderId,
    timestamp,
    topic: named(topic),
    content,
    rendered_content: rendered,
  });
  return versions.reverse();
}
