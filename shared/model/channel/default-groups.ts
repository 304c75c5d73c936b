import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Channel } from './channel.ts';

/** A group of channels that fit together, under a name (companion facts 4.8). */
export interface DefaultGroup {
  /** The log number of its creation. */
  readonly id: number;
  readonly name: string;
  readonly description: string;
  /** Some of them may be left out when the group is shown (`mayBeInDefaultGroup`). */
  readonly channelIds: readonly number[];
}

/** All groups in order of creation. One item, since each event has all of them. */
export interface StoredDefaultGroups {
  /** Incremented by each change. */
  readonly version: number;
  readonly list: readonly DefaultGroup[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    defaultGroups: StoredDefaultGroups;
  }
}

/**
 * Whether groups show the channel. New users get the default channels anyway, and not everybody may know of private ones.
 * A channel that changes stays in its groups, and is shown again when it changes back.
 */
export const mayBeInDefaultGroup = ({
  isPrivate,
  isArchived,
  isDefault,
}: Pick<Channel, 'isPrivate' | 'isArchived' | 'isDefault'>): boolean =>
  !isPrivate && !isArchived && !isDefault;

/** The groups as stored. One round trip. */
export const loadDefaultGroups = async (table: Table, realm: string): Promise<StoredDefaultGroups> =>
  (await table.get('defaultGroups', { realm })) ?? { version: 0, list: [] };

/** The groups on the wire, with those of these channels that they show. */
export function defaultGroupObjects(
  { list }: Pick<StoredDefaultGroups, 'list'>,
  channels: readonly Channel[],
) {
  const shown = new Set(channels.filter(mayBeInDefaultGroup).map(({ channelId }) => channelId));
  return list.map(({ id, name, description, channelIds }) => ({
    id,
    name,
    description,
    streams: channelIds.filter((channelId) => shown.has(channelId)),
  }));
}

/** The same; undefined if the organization never had a group. One round trip, two if there are channels in groups. */
export async function loadDefaultGroupObjects(table: Table, realm: string) {
  const stored = await loadDefaultGroups(table, realm);
  if (stored.version === 0) return undefined;
  const ids = new Set(stored.list.flatMap(({ channelIds }) => channelIds));
  const channels = await table.getMany([...ids].map((channelId) => key('channel', { realm, channelId })));
  return defaultGroupObjects(stored, channels);
}

/** The list of groups, read when the event is delivered; nothing is delivered before the first group. Not for guests. */
export const defaultGroupsEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'members' },
  payload: { type: 'default_stream_groups' },
  fill: 'defaultGroups',
};
