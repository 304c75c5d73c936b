import { expect } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as add } from '../../functions/reactions/add.ts';
import { handler as remove } from '../../functions/reactions/remove.ts';
import type { Person, Reply, TestRealm } from '../realm.ts';

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

/** The reactions to a message as somebody fetches them. */
export async function reactionsTo(
  realm: TestRealm,
  as: Person,
  message_id: number,
): Promise<Reply['body'][]> {
  const { body } = await realm.call(getMessage, as, {}, { path: { message_id } });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.message.reactions;
}
