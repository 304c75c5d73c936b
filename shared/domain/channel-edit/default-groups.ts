import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { bytesOf } from '../../kernel/quota.ts';
import { checkPrintable, codePoints, folded } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type Channel, checkChannelName } from '../../model/channel/channel.ts';
import {
  type DefaultGroup,
  defaultGroupsEvent,
  loadDefaultGroups,
  mayBeInDefaultGroup,
  type StoredDefaultGroups,
} from '../../model/channel/default-groups.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone } from '../../table/write.ts';

/** Most groups of an organization, most bytes of all together, and most channels of one (docs/LIMITS.md). */
const MAX_GROUPS = 100;
const MAX_BYTES = 50_000;
const MAX_CHANNELS = 50;
/** Most characters of the texts of a group. */
const MAX_NAME = 60;
const MAX_DESCRIPTION = 1_024;

/** The channels that a request names, each once. Throws `BAD_REQUEST` for invalid names and too many. */
export function parseGroupChannels(texts: readonly string[]): readonly string[] {
  const byFolded = new Map(texts.map(checkChannelName).map((name) => [folded(name), name]));
  if (byFolded.size > MAX_CHANNELS) throw tooManyChannels();
  return [...byFolded.values()];
}

const tooManyChannels = () => badRequest(`A default channel group has at most ${MAX_CHANNELS} channels.`);

const nameKey = (name: string): LookupKey<'channelName'> => ({ kind: 'channelName', name });

/** The names to look up before the snapshot is read. */
export const groupChannelKeys = (names: readonly string[]): LookupKey[] => names.map(nameKey);

/** The groups, and the channels in the request. */
interface GroupSnapshot {
  readonly stored: StoredDefaultGroups;
  /** By folded name; channels that do not exist are absent. */
  readonly channels: ReadonlyMap<string, Channel>;
}

/** One round trip. */
export async function loadGroupSnapshot(
  table: Table,
  resolved: Resolved,
  names: readonly string[],
): Promise<GroupSnapshot> {
  const { realm } = resolved;
  const ids = names.flatMap((name) => resolved.follow(nameKey(name))?.channelId ?? []);
  const [stored, channels] = await Promise.all([
    loadDefaultGroups(table, realm),
    table.getMany(ids.map((channelId) => key('channel', { realm, channelId }))),
  ]);
  return { stored, channels: new Map(channels.map((channel) => [folded(channel.name), channel])) };
}

/** Returns the group with this id, or refuses. */
export function accessDefaultGroup(id: number, { list }: StoredDefaultGroups): DefaultGroup {
  const group = list.find((each) => each.id === id);
  if (group === undefined) throw badRequest(`There is no default channel group with the ID ${id}.`);
  return group;
}

/** The channels with these names, which administrators see even if they are private, or a refusal. */
const accessGroupChannels = (names: readonly string[], { channels }: GroupSnapshot): Channel[] =>
  names.map((name) => {
    const channel = channels.get(folded(name));
    if (channel === undefined) throw badRequest(`There is no channel named '${name}'.`);
    return channel;
  });

/** Checks a new group (companion facts 4.8). */
export function checkNewDefaultGroup(
  asked: { readonly group_name: string; readonly description: string; readonly names: readonly string[] },
  snapshot: GroupSnapshot,
): Omit<DefaultGroup, 'id'> {
  const { list } = snapshot.stored;
  const group = {
    name: checkName(asked.group_name, list),
    description: checkDescription(asked.description),
    channelIds: checkAddedChannels(asked.names, { channelIds: [] }, snapshot),
  };
  checkRoom(list, { id: Number.MAX_SAFE_INTEGER, ...group });
  return group;
}

/** Refuses a group that there is no room for besides the others. */
function checkRoom(others: readonly DefaultGroup[], group: DefaultGroup): void {
  if (others.length >= MAX_GROUPS) {
    throw badRequest(`An organization has at most ${MAX_GROUPS} default channel groups.`);
  }
  if (bytesOf(JSON.stringify([...others, group])) > MAX_BYTES) {
    throw badRequest('The default channel groups take up all the space that there is for them.');
  }
}

/** Checks another name or description of a group. */
export function checkDefaultGroupEdit(
  asked: { readonly new_group_name?: string; readonly new_description?: string },
  group: DefaultGroup,
  { list }: StoredDefaultGroups,
): DefaultGroup {
  const { new_group_name: name, new_description: description } = asked;
  if (name === undefined && description === undefined) {
    throw badRequest("A change needs 'new_group_name' or 'new_description'.");
  }
  const others = list.filter((each) => each !== group);
  const changed = {
    ...group,
    ...(name !== undefined && { name: checkName(name, others) }),
    ...(description !== undefined && { description: checkDescription(description) }),
  };
  checkRoom(others, changed);
  return changed;
}

/** Checks which channels enter or leave a group. */
export function checkGroupChannels(
  op: 'add' | 'remove',
  names: readonly string[],
  group: DefaultGroup,
  snapshot: GroupSnapshot,
): DefaultGroup {
  if (op === 'remove') return { ...group, channelIds: checkRemovedChannels(names, group, snapshot) };
  const changed = { ...group, channelIds: checkAddedChannels(names, group, snapshot) };
  checkRoom(
    snapshot.stored.list.filter((each) => each !== group),
    changed,
  );
  return changed;
}

function checkName(text: string, others: readonly DefaultGroup[]): string {
  const name = text.trim();
  if (name === '') throw badRequest('A default channel group needs a name.');
  if (codePoints(name) > MAX_NAME) {
    throw badRequest(`The name of a default channel group has at most ${MAX_NAME} characters.`);
  }
  checkPrintable('The name of the default channel group', name);
  if (others.some((other) => folded(other.name) === folded(name))) {
    throw badRequest(`There is already a default channel group named '${name}'.`);
  }
  return name;
}

function checkDescription(description: string): string {
  if (codePoints(description) > MAX_DESCRIPTION) {
    throw badRequest(`The description of a default channel group has at most ${MAX_DESCRIPTION} characters.`);
  }
  return description;
}

function checkAddedChannels(
  names: readonly string[],
  { channelIds }: Pick<DefaultGroup, 'channelIds'>,
  snapshot: GroupSnapshot,
): readonly number[] {
  const added = accessGroupChannels(names, snapshot).map((channel) => {
    const { channelId, name } = channel;
    if (!mayBeInDefaultGroup(channel)) {
      throw badRequest(
        `'${name}' cannot be in a default channel group: it is private, archived or a default channel.`,
      );
    }
    if (channelIds.includes(channelId))
      throw badRequest(`'${name}' is in the default channel group already.`);
    return channelId;
  });
  if (channelIds.length + added.length > MAX_CHANNELS) throw tooManyChannels();
  return [...channelIds, ...added];
}

function checkRemovedChannels(
  names: readonly string[],
  { channelIds }: DefaultGroup,
  snapshot: GroupSnapshot,
): readonly number[] {
  const removed = accessGroupChannels(names, snapshot).map(({ channelId, name }) => {
    if (!channelIds.includes(channelId)) throw badRequest(`'${name}' is not in the default channel group.`);
    return channelId;
  });
  return channelIds.filter((channelId) => !removed.includes(channelId));
}

/** Replaces the groups, if they are unchanged. */
const doChange = <T>(
  realm: string,
  { version }: StoredDefaultGroups,
  list: readonly DefaultGroup[],
  result: T,
): Change<T> => ({
  writes: [
    {
      put: key('defaultGroups', { realm }),
      item: { version: version + 1, list },
      when: hasVersionOrNone(version),
      lastWriterWins: true,
    },
  ],
  entries: [defaultGroupsEvent],
  result,
});

/** Adds a group. */
export const doCreateDefaultGroup = (
  realm: string,
  stored: StoredDefaultGroups,
  group: DefaultGroup,
): Change<{ readonly id: number }> => doChange(realm, stored, [...stored.list, group], { id: group.id });

/** Replaces the group that has the same id. */
export const doEditDefaultGroup = (
  realm: string,
  stored: StoredDefaultGroups,
  group: DefaultGroup,
): Change<Record<string, never>> =>
  doChange(
    realm,
    stored,
    stored.list.map((each) => (each.id === group.id ? group : each)),
    {},
  );

/** Deletes a group. Its channels stay as they are. */
export const doDeleteDefaultGroup = (
  realm: string,
  stored: StoredDefaultGroups,
  group: DefaultGroup,
): Change<Record<string, never>> =>
  doChange(
    realm,
    stored,
    stored.list.filter((each) => each !== group),
    {},
  );
