import { folded } from '../../kernel/folding.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { loadHolders } from '../../model/message/user-topic.ts';
import { visibility } from '../../model/message/visibility.ts';
import { loadSubscriberIds } from '../../model/subscription/object.ts';
import type { Table } from '../../table/table.ts';

/**
 * Those among the people with devices who may have to be notified of a message: the people of a direct one; of a
 * channel's those who follow the topic or are mentioned. Whether they want to is decided later, person by person.
 * What it costs grows with those who follow the topic, and only where a message is for a whole group, topic or channel
 * with these.
 */
export async function audienceOf(
  table: Table,
  realm: string,
  message: MessageSlot,
  holders: ReadonlySet<number>,
): Promise<number[]> {
  const { senderId, people, channelId, topic = '', mentions = {} } = message;
  const place = { channelId: channelId ?? 0, topic };
  const isForMany = mentions.channel === true || (mentions.groups?.length ?? 0) > 0;
  const lists =
    people !== undefined
      ? [people]
      : await Promise.all([
          mentions.users ?? [],
          followersIn(table, realm, place),
          isForMany ? loadSubscriberIds(table, realm, place.channelId) : [],
          mentions.topic ? participantsIn(table, realm, place) : [],
        ]);
  const found = new Set(lists.flat());
  return [...found].filter((userId) => userId !== senderId && holders.has(userId)).sort((a, b) => a - b);
}

interface Place {
  readonly channelId: number;
  readonly topic: string;
}

async function followersIn(table: Table, realm: string, place: Place): Promise<number[]> {
  const policies = await loadHolders(table, realm, place);
  return policies.filter(({ policy }) => policy === visibility.followed).map(({ userId }) => userId);
}

async function participantsIn(table: Table, realm: string, { channelId, topic }: Place): Promise<number[]> {
  const participants = await table.all('participant', { realm, channelId, topic: folded(topic) });
  return participants.map(({ userId }) => userId);
}
