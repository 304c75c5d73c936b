import { expect } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as getHistory } from '../../functions/messages/getHistory.ts';
import { handler as updateMessage } from '../../functions/messages/update.ts';
import type { Person, Reply, TestRealm } from '../realm.ts';

export const update = (
  realm: TestRealm,
  as: Person,
  message_id: number,
  change: Readonly<Record<string, unknown>>,
): Promise<Reply> => realm.call(updateMessage, as, change, { path: { message_id } });

/** The same without a notice in the new topic, which most tests of moves are not about. */
export const move = (
  realm: TestRealm,
  as: Person,
  message_id: number,
  change: Readonly<Record<string, unknown>>,
): Promise<Reply> => update(realm, as, message_id, { send_notification_to_new_thread: false, ...change });

/** The message as somebody fetches it. */
export async function fetched(realm: TestRealm, as: Person, message_id: number): Promise<Reply['body']> {
  const query = { apply_markdown: false, allow_empty_topic_name: true };
  const { body } = await realm.call(getMessage, as, {}, { path: { message_id }, query });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.message;
}

export async function historyOf(realm: TestRealm, as: Person, message_id: number): Promise<Reply['body'][]> {
  const { body } = await realm.call(getHistory, as, {}, { path: { message_id } });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.message_history;
}

export const success = { status: 200, body: { result: 'success', detached_uploads: [] } };
export const refused = { status: 400, body: { code: 'BAD_REQUEST' } };
export const invalid = { status: 400, body: { code: 'BAD_REQUEST', msg: 'Invalid message(s).' } };
