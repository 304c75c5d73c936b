import type { MessageSlot } from '../../log/slot.ts';
import { partition } from '../../table/keys.ts';
import type { Reader } from '../fetch/reader.ts';
import { revisionObject, type Telling, topicName } from './message-object.ts';
import type { Edit } from './message-revision.ts';

/** Earlier texts that one reply tells: with the others of a page (1 MB) they fit into it. */
const MOST_EDITS = 100;

/** Reads the earlier texts of a message, the newest ones if they are many. One round trip. */
export async function loadHistory(message: MessageSlot, { table, realm }: Reader): Promise<readonly Edit[]> {
  if (message.history === undefined) return [];
  const { items } = await table.page<Edit>({
    pk: partition('edit', { realm, messageId: message.id }),
    descending: true,
    limit: MOST_EDITS,
  });
  return items;
}

/** The versions of a message, the oldest first, each with what was changed in it. */
export function tellHistory(
  message: MessageSlot,
  edits: readonly Edit[],
  telling: Pick<Telling, 'emptyTopicName'>,
) {
  const texts = new Map(edits.map((edit) => [edit.seq, edit]));
  const versions = [];
  const isChannel = message.channelId !== undefined;
  const named = (topic: string): string => (isChannel ? topicName(topic, telling) : topic);
  let { content, rendered, topic = '' } = message;
  for (const revision of message.history ?? []) {
    const before = revision.content ? texts.get(revision.seq) : { content, rendered };
    if (before === undefined) return versions.reverse();
    versions.push({
      ...revisionObject(revision, telling),
      topic: named(topic),
      content,
      rendered_content: rendered,
      ...(revision.content && { prev_content: before.content, prev_rendered_content: before.rendered }),
    });
    ({ content, rendered } = before);
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
