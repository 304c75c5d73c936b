import { loadKind } from '../../../shared/domain/outbox/outbox.ts';
import { FirstMessages } from '../../../shared/domain/reader/first-messages.ts';
import type { Outside } from '../../../shared/kernel/outside.ts';
import { folded } from '../../../shared/kernel/text.ts';
import type { MessageSlot } from '../../../shared/log/slot.ts';
import type { ChannelCount } from '../../../shared/model/channel/channel.ts';
import { rememberedFirst } from '../../../shared/model/channel/first-message.ts';
import { loadFolders } from '../../../shared/model/channel/folder.ts';
import type { GroupSetting } from '../../../shared/model/permission/permission.ts';
import { key, partition, sortPrefix } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import type { Ledger } from './ledger.ts';
import type { Audited } from './people.ts';

/** Holds the channels to their names, subscribers, topics and folders, and returns their settings. */
export async function auditChannels(
  outside: Outside,
  realm: string,
  people: readonly Audited[],
  messages: readonly MessageSlot[],
  ledger: Ledger,
): Promise<Map<number, readonly GroupSetting[]>> {
  const { table } = outside;
  const [channels, counts, { folders }] = await Promise.all([
    table.all('channel', { realm }),
    table.all('channelCount', { realm }),
    loadFolders(table, realm),
  ]);
  ledger.unique(
    'a channel name',
    channels.map(({ name }) => folded(name)),
  );
  ledger.unique(
    'the name of a folder in use',
    [...folders.values()].flatMap(({ name, isArchived }) => (isArchived ? [] : [folded(name.trim())])),
  );
  for (const { folderId, channels: stored } of folders.values()) {
    const inside = channels.filter((channel) => channel.folderId === folderId).length;
    ledger.same(`channels in folder ${folderId}`, stored, inside);
  }
  const arrived = Map.groupBy(messages, ({ channelId }) => channelId);
  for (const { channelId, name } of channels) {
    const named = await table.get('channelName', { realm, name: folded(name) });
    ledger.same(`the name of channel ${channelId} leads to`, named?.channelId, channelId);
    const count = counts.find((one) => one.channelId === channelId);
    await auditSubscribers(table, realm, channelId, count, people, ledger);
    await auditTopics(outside, realm, channelId, count, arrived.get(channelId) ?? [], ledger);
    await auditPolicies(table, realm, channelId, people, ledger);
  }
  return new Map(
    channels.map(({ channelId, groups }) => [channelId, Object.values<GroupSetting>({ ...groups })]),
  );
}

async function auditSubscribers(
  table: Table,
  realm: string,
  channelId: number,
  count: ChannelCount | undefined,
  people: readonly Audited[],
  ledger: Ledger,
): Promise<void> {
  const subscribed = people
    .filter(({ subscriptions }) => subscriptions.some((one) => one.channelId === channelId && !one.dormant))
    .map(({ userId }) => userId);
  const items = await table.all('subscriber', { realm, channelId });
  ledger.same(
    `subscribers of channel ${channelId}`,
    items.map(({ userId }) => userId),
    subscribed,
  );
  ledger.same(`how many subscribers channel ${channelId} has`, count?.subscribers ?? 0, subscribed.length);
}

async function auditTopics(
  outside: Outside,
  realm: string,
  channelId: number,
  count: ChannelCount | undefined,
  messages: readonly MessageSlot[],
  ledger: Ledger,
): Promise<void> {
  const { table } = outside;
  const byTopic = Map.groupBy(messages, ({ topic = '' }) => folded(topic));
  const topics = await table.all('topic', { realm, channelId });
  ledger.same(
    `topics of channel ${channelId}`,
    topics.map(({ topic }) => folded(topic)),
    [...byTopic.keys()],
  );
  const named = [...byTopic.keys()].filter((topic) => topic !== '').length;
  ledger.same(`named topics of channel ${channelId}`, count?.namedTopics ?? 0, named);
  const jobs = (await loadKind(table, realm, 'move')).map(({ job }) => job);
  const ids = messages.map(({ id }) => id);
  const [first, oldest] = [rememberedFirst(count), minimum(ids) ?? null];
  if (first !== undefined)
    ledger.same(`the oldest message of channel ${channelId}, as remembered`, first, oldest);
  ledger.same(
    `the oldest message of channel ${channelId}, as it is found`,
    await new FirstMessages(outside, realm).of(channelId),
    oldest,
  );
  for (const { topic, arrived, left, maxId, participants, moving } of topics) {
    const what = `topic '${topic}' of channel ${channelId}`;
    const here = (byTopic.get(folded(topic)) ?? []).map(({ id }) => id);
    ledger.same(`an unknown move of ${what}`, moving !== undefined && !jobs.includes(moving), false);
    ledger.same(`messages in ${what}`, arrived - left, here.length);
    ledger.same(`the newest in ${what}`, maxId, maximum(here));
    const inTopic = await table.all('participant', { realm, channelId, topic: folded(topic) });
    ledger.same(`participants of ${what}`, participants, inTopic.length);
  }
}

const minimum = (ids: readonly number[]) => (ids.length === 0 ? undefined : Math.min(...ids));
const maximum = (ids: readonly number[]) => (ids.length === 0 ? undefined : Math.max(...ids));

async function auditPolicies(
  table: Table,
  realm: string,
  channelId: number,
  people: readonly Audited[],
  ledger: Ledger,
): Promise<void> {
  const place = { pk: partition('topicPolicy', { realm, channelId }), prefix: sortPrefix('topicPolicy') };
  const { items } = await table.storedPage(place);
  const held = people.flatMap(({ userId, policies }) =>
    policies
      .filter((one) => one.channelId === channelId && one.policy !== 0)
      .map(({ topic }) => key('topicPolicy', { realm, channelId, topic: folded(topic), userId }).sk),
  );
  ledger.same(
    `policies for topics of channel ${channelId}`,
    items.map(({ sk }) => sk),
    held,
  );
}

/** Holds direct conversations to their messages. */
export async function auditConversations(
  table: Table,
  realm: string,
  messages: readonly MessageSlot[],
  ledger: Ledger,
): Promise<void> {
  const direct = messages.filter(({ people }) => people !== undefined);
  for (const [conversation, here] of Map.groupBy(direct, (message) => message.conversation)) {
    const stored = await table.get('conversation', { realm, conversation });
    ledger.same(`messages in ${conversation}`, (stored?.arrived ?? 0) - (stored?.left ?? 0), here.length);
    ledger.same(`the newest in ${conversation}`, stored?.maxId, maximum(here.map(({ id }) => id)));
    ledger.same(`people in ${conversation}`, stored?.people, here[0]?.people);
  }
}
