import { expect } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as getHistory } from '../../functions/messages/getHistory.ts';
import { handler as updateMessage } from '../../functions/messages/update.ts';
import { folded } from '../../shared/kernel/text.ts';
import { commit } from '../../shared/log/commit.ts';
import type { MessageEntry } from '../../shared/log/slot.ts';
import { doAddToTopic } from '../../shared/model/message/topic.ts';
import { sendTo } from './event-queue.ts';
import { givenChannel, givenUser } from './given.ts';
import { storedText } from './messages.ts';
import type { Person, Reply, TestRealm } from './realm.ts';
import { loggedAfter, storedMessage } from './stored.ts';

export const say = (realm: TestRealm, as: Person, to: number, topic: string): Promise<number> =>
  sendTo(realm, as, to, 'x', { topic });

/** So many messages of these users; each user sends all of theirs before the next one. */
export async function sayMany(
  realm: TestRealm,
  people: readonly Person[],
  to: number,
  topic: string,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  for (const [i, person] of people.entries()) {
    const number = Math.floor(count / people.length) + (i < count % people.length ? 1 : 0);
    if (number > 0) ids.push(...(await sayAtOnce(realm, person, to, topic, number)));
  }
  return ids;
}

/** So many messages of one person, stored by one transaction: to send each takes most of a test's time. */
async function sayAtOnce(
  { realm, outside: { table, now }, log }: TestRealm,
  { userId: senderId }: Person,
  channelId: number,
  topic: string,
  count: number,
): Promise<readonly number[]> {
  const place = { realm, channelId, topic: folded(topic) };
  const [stored, participant, counts] = await Promise.all([
    table.get('topic', place),
    table.get('participant', { ...place, userId: senderId }),
    table.get('channelCount', { realm, channelId }),
  ]);
  const day = Math.floor(now() / 86_400_000);
  const state = { topic: stored, takesPart: participant !== undefined, count: counts };
  return commit(log, count, (numbers) => {
    const [firstId, messageId] = [numbers[0] as number, numbers.at(-1) as number];
    const arrival = { channelId, topic, messageId, firstId, count, senderId, day };
    const message = storedText({ channelId, topic, senderId, now: now() }, 'x');
    return {
      writes: doAddToTopic(realm, arrival, state),
      entries: numbers.map((): MessageEntry => ({ kind: 'message', message })),
      result: numbers,
    };
  });
}

/** Two channels with the same people in them: the administrator, the member and so many others. */
export async function givenTwoChannels(realm: TestRealm, others: number) {
  const { admin, member } = realm.people;
  const crowd = await Promise.all(Array.from({ length: others }, () => givenUser(realm)));
  const people = [admin, member, ...crowd];
  const source = await givenChannel(realm, {}, people);
  const target = await givenChannel(realm, {}, people);
  return { people, source, target };
}

/** The topics in which these messages are stored. */
export const topicsOf = (realm: TestRealm, ids: readonly number[]): Promise<(string | undefined)[]> =>
  Promise.all(ids.map(async (id) => (await storedMessage(realm, id)).topic));

/** The ids in each update event since then, in order. */
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

/** The message as a user fetches it. */
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

/** The transaction of a request. What comes after it, at milestones of the log, is for the next registrations. */
export const isCommit = ({ action }: { readonly action: string }): boolean => action === 'TransactWrite';
