import { FirstMessages } from '../../shared/domain/reader/first-messages.ts';
import { folded } from '../../shared/kernel/text.ts';
import { readRun, WHOLE } from '../../shared/log/log.ts';
import type { MessageSlot, ReadEntry } from '../../shared/log/slot.ts';
import type { ChannelCount } from '../../shared/model/channel/channel.ts';
import { rememberedFirst } from '../../shared/model/channel/first-message.ts';
import type { Conversation } from '../../shared/model/message/direct.ts';
import { directConversation } from '../../shared/model/message/message.ts';
import type { Topic } from '../../shared/model/message/topic.ts';
import type { UserTopic } from '../../shared/model/message/user-topic.ts';
import type { Person, TestRealm } from './realm.ts';

/*
 * What the table holds after a request, for tests of what no endpoint tells (or none yet).
 */

/** The message with this id. */
export async function storedMessage({ realm, outside }: TestRealm, id: number): Promise<MessageSlot> {
  const slot = await outside.table.get('slot', { realm, seq: id });
  if (slot?.kind !== 'message') throw new Error(`${id} is no message`);
  return slot;
}

export const storedTopic = (
  { realm, outside }: TestRealm,
  channelId: number,
  topic: string,
): Promise<Topic | undefined> => outside.table.get('topic', { realm, channelId, topic: folded(topic) });

export const storedCount = (
  { realm, outside }: TestRealm,
  channelId: number,
): Promise<ChannelCount | undefined> => outside.table.get('channelCount', { realm, channelId });

/** The oldest message of a channel, as every reader finds it. What is remembered of it must not say otherwise. */
export async function firstOf(test: TestRealm, channelId: number): Promise<number | null> {
  const found = await new FirstMessages(test.outside, test.realm).of(channelId);
  const remembered = rememberedFirst(await storedCount(test, channelId));
  if (remembered !== undefined && remembered !== found)
    throw new Error(`the oldest message of ${channelId} is ${found}, and remembered is ${remembered}`);
  return found;
}

export const storedUserTopic = (
  { realm, outside }: TestRealm,
  { userId }: Person,
  channelId: number,
  topic: string,
): Promise<UserTopic | undefined> =>
  outside.table.get('userTopic', { realm, userId, channelId, topic: folded(topic) });

export const storedConversation = (
  { realm, outside }: TestRealm,
  people: readonly Person[],
): Promise<Conversation | undefined> => {
  const conversation = directConversation(people.map(({ userId }) => userId));
  return outside.table.get('conversation', { realm, conversation });
};

/** The last number of the log that was handed out. */
export async function lastNumber({ realm, outside }: TestRealm): Promise<number> {
  return (await outside.table.get('counter', { realm }))?.seq as number;
}

/**
 * All that the log tells after this number, once holes that writers left have had their time. Throws if it has an
 * end before the last number that was handed out: a hole that stays.
 */
export async function loggedAfter(realm: TestRealm, cursor: number): Promise<ReadEntry[]> {
  realm.pass(WHOLE);
  const entries: ReadEntry[] = [];
  for (let head = cursor; head < (await lastNumber(realm)); ) {
    const run = await readRun(realm.log, head, new Map());
    // A hole at the end has nothing behind it that would show it to a reader; it is as good as not taken.
    if (run.head === head) {
      if (run.ended !== 'end') throw new Error(`the log stops at ${head}`);
      break;
    }
    head = run.head;
    entries.push(...run.entries);
  }
  return entries;
}
