import type { Event } from '../event-queue.ts';
import type { Reply } from '../realm.ts';

/** What a registration tells, or an event: JSON that the tests look into. */
export type Json = Reply['body'];

/** How a client registers, and what it therefore has to expect. */
export interface Kind {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly archivedChannels: boolean;
  readonly deactivatedGroups: boolean;
  readonly emptyTopicName: boolean;
  readonly subscribers: boolean;
  readonly linkifiers: boolean;
}

/** A message that is not read, with what it takes to count it. */
export interface Unread {
  readonly channelId?: number;
  readonly topic?: string;
  /** Everybody in the conversation, the reader too. */
  readonly people?: readonly number[];
  /** A wildcard is silenced where the topic or the channel is muted; a name is not. */
  readonly mentioned?: 'name' | 'wildcard' | undefined;
}

/** What a client keeps: the reply to its registration, which events change. */
export interface Known {
  readonly me: number;
  readonly kind: Kind;
  readonly state: Json;
  /** By message id. */
  readonly unread: Map<number, Unread>;
  /** The direct messages that the client holds, with their people. */
  readonly direct: Map<number, readonly number[]>;
  /** What the person had chosen for channels that the client had to forget. */
  readonly formerly: Map<number, Json>;
  /** What cannot be worked out from events, and is fetched by the client when they say that it changed. */
  readonly stale: Set<'realm_bots' | 'unread_msgs'>;
}

/** What a client makes of an event. */
export type Apply = (known: Known, event: Event) => void;
export type Applying = Readonly<Record<string, Apply>>;

/** What a client keeps of the reply to its registration. */
export function knownFrom(reply: Json, kind: Kind): Known {
  const state = structuredClone(reply);
  const me: number = state.user_id;
  const known: Known = {
    me,
    kind,
    state,
    unread: new Map(),
    direct: new Map(),
    formerly: new Map(),
    stale: new Set(),
  };
  const { streams, pms, huddles, mentions } = state.unread_msgs;
  const put = (ids: readonly number[], place: Unread): void => {
    for (const id of ids) {
      known.unread.set(id, { ...place, ...(mentions.includes(id) && { mentioned: 'name' as const }) });
    }
  };
  for (const { stream_id, topic, unread_message_ids } of streams) {
    put(unread_message_ids, { channelId: stream_id, topic });
  }
  for (const { other_user_id, unread_message_ids } of pms) {
    put(unread_message_ids, { people: sorted(new Set([me, other_user_id])) });
  }
  for (const { user_ids_string, unread_message_ids } of huddles) {
    put(unread_message_ids, { people: user_ids_string.split(',').map(Number) });
  }
  return known;
}

/** Ids in rising order. */
export const sorted = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);

/** The ids with some more, or without some. */
export const withIds = (ids: readonly number[], more: readonly number[]): number[] =>
  sorted(new Set([...ids, ...more]));
export const withoutIds = (ids: readonly number[], less: readonly number[]): number[] =>
  ids.filter((id) => !less.includes(id));

/** The lists of channels by what the person has to do with them. */
const channelLists = ['subscriptions', 'unsubscribed', 'never_subscribed'] as const;

/** Every object by which the client knows this channel. */
export const channelsIn = ({ state }: Known, channelId: number): Json[] =>
  [...channelLists, 'streams'].flatMap((list) =>
    state[list].filter(({ stream_id }: Json) => stream_id === channelId),
  );

/** The same, without the list that is there for its events only, which knows no subscribers. */
export const subscribableIn = ({ state }: Known, channelId: number): Json[] =>
  channelLists.flatMap((list) => state[list].filter(({ stream_id }: Json) => stream_id === channelId));

/** Takes channels out of these lists. */
export function dropChannels({ state }: Known, ids: readonly number[], lists: readonly string[]): void {
  for (const list of lists) {
    state[list] = state[list].filter(({ stream_id }: Json) => !ids.includes(stream_id));
  }
}

/** All lists of channels. */
export const everyList: readonly string[] = [...channelLists, 'streams'];

/** Whether a user is in a group setting: by name, or by a group, or by a group in it. */
export function isIn({ state }: Known, userId: number, setting: Json): boolean {
  const groups = new Map(state.realm_user_groups.map((group: Json) => [group.id, group]));
  const isMember = (id: number): boolean => {
    const { members, direct_subgroup_ids } = (groups.get(id) as Json) ?? {
      members: [],
      direct_subgroup_ids: [],
    };
    return members.includes(userId) || direct_subgroup_ids.some(isMember);
  };
  return typeof setting === 'number'
    ? isMember(setting)
    : setting.direct_members.includes(userId) || setting.direct_subgroups.some(isMember);
}
