import type { Revision } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import {
  allSubmessages,
  revisionObject,
  submessageObject,
  visibleHistory,
} from '../../model/message/object.ts';
import { allReactions, type Reaction, reactionObject } from '../../model/message/reaction.ts';
import { loadReactions } from '../../model/message/reaction-store.ts';
import type { HistoryVisibility } from '../../model/realm/realm.ts';
import type { Table } from '../../table/table.ts';
import type { Section, Snapshot } from './archive-file.ts';
import type { Scope } from './plan.ts';

/** Messages whose reactions are read at once: with the most reactions they are some 20 MB. */
const AT_ONCE = 100;

/** Messages in id order, from the log itself, so that each is exported once even if it is moved meanwhile. */
export const messages: Section = async (snapshot, from, room) => {
  const { table, realm, plan, scope } = snapshot;
  const { items, more } = await table.page(
    'slot',
    { realm },
    { from: { seq: from.id }, to: { seq: plan.until }, limit: room.lines },
  );
  const exported = items.filter((slot) => slot.kind === 'message').filter(scope.message);
  const lines: string[] = [];
  let bytes = 0;
  for (let start = 0; start < exported.length; start += AT_ONCE) {
    const some = exported.slice(start, start + AT_ONCE);
    const reactions = await Promise.all(some.map(({ id }) => loadReactions(table, realm, id)));
    for (const [i, slot] of some.entries()) {
      const line = JSON.stringify(await exportedMessage(snapshot, slot, reactions[i] ?? []));
      lines.push(line);
      bytes += line.length;
      if (bytes >= room.bytes) return { lines, next: { id: slot.seq + 1, sub: 0 } };
    }
  }
  const last = items.at(-1);
  return { lines, next: more && last !== undefined ? { id: last.seq + 1, sub: 0 } : undefined };
};

async function exportedMessage(
  { table, realm, scope, historyVisibility }: Snapshot,
  message: MessageSlot,
  stored: readonly Reaction[],
) {
  const { id, senderId, channelId, topic, people } = message;
  const history = exportedHistory(message, scope, historyVisibility);
  const submessages = allSubmessages(message).map((each) => submessageObject(id, each));
  return {
    id,
    sender_id: senderId,
    timestamp: message.timestamp,
    client: message.client,
    ...(channelId === undefined
      ? { type: 'direct', user_ids: people }
      : { type: 'channel', stream_id: channelId, topic: topic ?? '' }),
    content: message.content,
    rendered_content: message.rendered,
    is_me_message: message.isMe,
    reactions: allReactions(message, stored).map(reactionObject),
    ...(submessages.length > 0 && { submessages }),
    ...(message.edited !== undefined && { last_edit_timestamp: message.edited }),
    ...(message.moved !== undefined && { last_moved_timestamp: message.moved }),
    ...(history.length > 0 && { edit_history: await historyObjects(table, realm, id, history) }),
  };
}

/** The changes of a message, newest first, without those before it was moved from a channel that is not exported. */
function exportedHistory(
  message: MessageSlot,
  scope: Scope,
  visibility: HistoryVisibility,
): readonly Revision[] {
  const { id, history = [] } = message;
  const hidden = history.findIndex(
    ({ channel }) => channel !== undefined && !scope.message({ id, channelId: channel.from }),
  );
  return visibleHistory(hidden < 0 ? history : history.slice(0, hidden), visibility);
}

async function historyObjects(table: Table, realm: string, messageId: number, history: readonly Revision[]) {
  const edits = history.some(({ content, before }) => content && before === undefined)
    ? await table.all('edit', { realm, messageId })
    : [];
  const texts = new Map(edits.map((edit) => [edit.seq, edit]));
  return history.map((revision) => {
    const before = revision.content && (revision.before ?? texts.get(revision.seq));
    return revisionObject({ ...revision, ...(before && { before }) }, { emptyTopicName: true });
  });
}
