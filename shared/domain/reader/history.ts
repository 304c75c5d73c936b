import type { MessageSlot } from '../../log/slot.ts';
import { type RenderOptions, revisionObject, topicName } from '../../model/message/object.ts';
import type { Edit } from '../../model/message/revision.ts';
import { htmlDiff } from './html-diff.ts';
import type { Reader } from './reader.ts';

/** Most earlier texts of one reply: they fit into one page of 1 MB. */
const MAX_EDITS = 100;

/** Bytes of HTML that one reply compares, the newest versions first, to bound its time and size. */
const MAX_COMPARED = 500_000;

/**
 * Reads the earlier texts that are not stored in the message itself, the newest ones if there are many. One round
 * trip, or none.
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

/** The versions of a message, oldest first, each with its change (companion facts 1.17). */
export function historyObjects(
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
