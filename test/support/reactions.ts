import { expect } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as add } from '../../functions/reactions/add.ts';
import { handler as remove } from '../../functions/reactions/remove.ts';
import { commit } from '../../shared/log/commit.ts';
import { eventForEveryone } from '../../shared/log/slot.ts';
import type { Emoji } from '../../shared/model/message/reaction.ts';
import {
  doReact,
  loadReactionState,
  loadSummary,
  type ReactionSummary,
} from '../../shared/model/message/reaction-store.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { put } from './given.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

type Parameters = Readonly<Record<string, unknown>>;

export const THUMB = { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' } as const;

export const react = (
  realm: TestRealm,
  as: Person,
  message_id: number,
  emoji: Parameters = THUMB,
): Promise<Reply> => realm.call(add, as, emoji, { path: { message_id } });

export const unreact = (
  realm: TestRealm,
  as: Person,
  message_id: number,
  emoji: Parameters = THUMB,
): Promise<Reply> => realm.call(remove, as, emoji, { path: { message_id } });

/** The reactions to a message as a user fetches them. */
export async function reactionsTo(
  realm: TestRealm,
  as: Person,
  message_id: number,
): Promise<Reply['body'][]> {
  const { body } = await realm.call(getMessage, as, {}, { path: { message_id } });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.message.reactions;
}

const THUMBS: Emoji = { type: 'unicode_emoji', code: '1f44d', name: '+1' };

/** The first of the strangers who made reactions that were given. */
const STRANGERS = 500_000;

/** So many strangers reacted to a message, as that is stored, with a thumb unless said otherwise. The log has no events of it. */
export async function givenReactions(
  realm: TestRealm,
  messageId: number,
  count: number,
  emoji = THUMBS,
): Promise<void> {
  const { table } = realm.outside;
  const { count: before = 0 } = (await storedSummary(realm, messageId)) ?? {};
  let have = 0;
  const isFull = async () => (await storedSummary(realm, messageId))?.isFull === true;
  while (have < count && !(await isFull())) {
    const userId = STRANGERS + before + have++;
    const state = await loadReactionState(table, realm.realm, messageId, emoji, userId);
    const by = { userId, seq: before + have, most: Number.MAX_SAFE_INTEGER };
    await put(realm, doReact(realm.realm, messageId, state, emoji, by));
  }
  while (have < count) {
    const some = Array.from({ length: Math.min(99, count - have) }, (_, i) => before + have + i);
    have += some.length;
    const { name, ...picture } = emoji;
    const writes = some.map((i): Write => {
      const userId = STRANGERS + i;
      const at = key('reaction', { realm: realm.realm, messageId, ...picture, userId });
      return { put: at, item: { ...picture, name, userId, seq: i + 1 } };
    });
    const update = key('reactions', { realm: realm.realm, messageId });
    await put(realm, [...writes, { update, change: { add: { count: some.length } } }]);
  }
}

/** The same with an event in the log, by which fetches know of reactions: one for all of them. */
export async function givenLoggedReactions(
  realm: TestRealm,
  messageId: number,
  count: number,
): Promise<void> {
  await givenReactions(realm, messageId, count);
  const event = eventForEveryone({ type: 'reaction', op: 'add', message_id: messageId });
  await commit(realm.log, 1, () => ({ writes: [], entries: [event], result: undefined }));
}

/** The summary of a message's reactions, as stored. */
export const storedSummary = (
  { realm, outside }: TestRealm,
  messageId: number,
): Promise<ReactionSummary | undefined> => loadSummary(outside.table, realm, messageId);

/** All that is stored of the reactions to a message. */
export const storedReactions = ({ realm, outside }: TestRealm, messageId: number) =>
  outside.table.all(['reactions', 'reaction'], { realm, messageId });
