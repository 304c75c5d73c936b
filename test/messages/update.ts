import { expect } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as getHistory } from '../../functions/messages/getHistory.ts';
import { handler as updateMessage } from '../../functions/messages/update.ts';
import { sendTo } from '../events/queue.ts';
import type { Person, Reply, TestRealm } from '../realm.ts';
import { loggedAfter, storedMessage } from '../stored.ts';

export const say = (realm: TestRealm, as: Person, to: number, topic: string): Promise<number> =>
  sendTo(realm, as, to, 'x', { topic });

/** So many messages, from these people in turn. */
export async function sayMany(
  realm: TestRealm,
  people: readonly Person[],
  to: number,
  topic: string,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) ids.push(await say(realm, people[i % people.length] as Person, to, topic));
  return ids;
}

/** The topics in which these messages are stored. */
export const topicsOf = (realm: TestRealm, ids: readonly number[]): Promise<(string | undefined)[]> =>
  Promise.all(ids.map(async (id) => (await storedMessage(realm, id)).topic));

/** The messages that each update since then says to have changed, in the order in which they are told. */
export const toldOf = async (realm: TestRealm, start: number): Promise<number[][]> =>
  (await loggedAfter(realm, start)).flatMap((entry) =>
    entry.kind === 'event' && entry.payload.type === 'update_message'
      ? [entry.payload.message_ids as number[]]
      : [],
  );

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
