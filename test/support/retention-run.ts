import { handler } from '../../functions/workers/retention.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { folded } from '../../shared/kernel/text.ts';
import { doSetRealmRetention } from '../../shared/model/channel/retention.ts';
import type { Topic } from '../../shared/model/message/topic.ts';
import { key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenMessages } from './messages.ts';
import type { Person, TestRealm } from './realm.ts';
import { runSchedule } from './worker-run.ts';

/** Milliseconds. */
export const DAY = 86_400_000;

export interface Running {
  readonly faults?: (send: Send) => Send;
  /** Other parts of its outside that differ from the realm's. It never pauses unless this says so. */
  readonly outside?: Partial<Outside>;
  /** How much time the run is given. */
  readonly seconds?: number;
}

/** A container of the worker, which does not wait between its steps. */
export const runner = (realm: TestRealm, { faults, outside }: Running = {}): TestRealm =>
  realm.container(faults, { wait: async () => {}, ...outside });

/** Runs the worker once. */
export const run = (realm: TestRealm, running: Running = {}): Promise<void> =>
  runSchedule(runner(realm, running), handler, running.seconds);

/** Those of these messages that are there still. */
export async function left({ realm, outside }: TestRealm, ids: readonly number[]): Promise<number[]> {
  const slots = await outside.table.getMany(ids.map((seq) => key('slot', { realm, seq })));
  return slots
    .filter(({ kind }) => kind === 'message')
    .map(({ seq }) => seq)
    .sort((a, b) => a - b);
}

/** For how many days the organization keeps messages, changed as an edit of its settings changes it. */
export async function givenDays({ realm, outside }: TestRealm, after: number): Promise<void> {
  const { table, uuid } = outside;
  const at = key('realm', { realm });
  const stored = await table.get(at);
  if (stored === undefined) throw new Error('there is no organization');
  const { settings, version } = stored;
  const set = { settings: { ...settings, message_retention_days: after }, version: version + 1 };
  const before = settings.message_retention_days;
  await table.transact(
    [{ update: at, change: { set } }, ...doSetRealmRetention(realm, { before, after }, version + 1)],
    uuid(),
  );
}

/** So many messages of one topic, with what is kept of a topic and its channel besides. */
export async function givenTopic(
  realm: TestRealm,
  sender: Person,
  channelId: number,
  topic: string,
  count: number,
): Promise<number[]> {
  const { table } = realm.outside;
  const ids = await givenMessages(realm, sender, channelId, () => topic, count);
  const item: Topic = {
    topic,
    maxId: ids.at(-1) as number,
    arrived: count,
    left: 0,
    participants: 0,
    day: 1,
  };
  await table.put(key('topic', { realm: realm.realm, channelId, topic: folded(topic) }), { ...item });
  const at = key('channelCount', { realm: realm.realm, channelId });
  await table.update(at, {
    set: { firstForgotten: ids.at(-1) },
    add: { namedTopics: topic === '' ? 0 : 1 },
    remove: ['firstMessageId'],
  });
  return ids;
}

/** Ends the run as it begins its nth transaction, as Lambda does: nothing that it sends gets anywhere any more. */
export const endingAt =
  (nth: number) =>
  (store: Send): Send => {
    let seen = 0;
    return async (command) => {
      if (/TransactWrite/.test(command.constructor.name)) seen++;
      if (seen >= nth) throw new Error('the function ended');
      return store(command);
    };
  };

/** Does something just before the first command of a kind: the first transaction, unless said otherwise. */
export const justBefore =
  (meanwhile: () => Promise<unknown>, kind = /TransactWrite/) =>
  (store: Send): Send => {
    let done: Promise<unknown> | undefined;
    return async (command) => {
      if (kind.test(command.constructor.name)) {
        done ??= meanwhile();
        await done;
      }
      return store(command);
    };
  };
