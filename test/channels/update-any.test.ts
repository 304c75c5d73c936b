import fc from 'fast-check';
import { expect, it } from 'vitest';
import { handler as get } from '../../functions/channels/get.ts';
import { WHOLE } from '../../shared/log/log.ts';
import { type Channel, channelGroupNames } from '../../shared/model/channel/channel.ts';
import {
  type GroupSetting,
  normalized,
  onlyUser,
  systemGroups,
} from '../../shared/model/permission/permission.ts';
import { edit, noticesAfter, storedChannel, toldOfChannels } from '../support/channel-state.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, storedCount } from '../support/stored.ts';
import { channelIdOf } from '../support/subscription-state.ts';

const { everyone } = systemGroups;
const names = ['one', 'two', 'taken', 'hidden', 'ONE', '', ' two '];

/** Setting values by words, since ids differ from realm to realm. */
const value = fc.constantFrom('nobody', 'everyone', 'members', 'moderators', 'member', 'group', 'mixed');
type Word = typeof value extends fc.Arbitrary<infer W> ? W : never;

const anyEdit = fc.record(
  {
    description: fc.constantFrom('', 'words', '**bold** @**all**'),
    new_name: fc.constantFrom(...names),
    is_private: fc.boolean(),
    is_web_public: fc.boolean(),
    history_public_to_subscribers: fc.boolean(),
    is_default_stream: fc.boolean(),
    message_retention_days: fc.constantFrom('30', 'unlimited', 'realm_default', '0'),
    is_archived: fc.boolean(),
    folder_id: fc.constantFrom(null, 999_999),
    topics_policy: fc.constantFrom('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'),
    groups: fc.dictionary(fc.constantFrom(...channelGroupNames), value, { maxKeys: 3 }),
  },
  { requiredKeys: [] },
);
type AnyEdit = typeof anyEdit extends fc.Arbitrary<infer E> ? E : never;

const callers = ['owner', 'admin', 'moderator', 'member', 'guest', 'bot', 'stranger'] as const;
const steps = fc.array(fc.record({ who: fc.constantFrom(...callers), edit: anyEdit }), {
  minLength: 1,
  maxLength: 6,
});
const beginning = fc.record({
  isPrivate: fc.boolean(),
  subscribers: fc.uniqueArray(fc.constantFrom(...callers)),
  administrator: fc.constantFrom(...callers),
});

interface Watcher {
  readonly person: Person;
  readonly client: Client;
  knows: boolean;
}

/** What must be true of a channel, whatever was done to it (wire facts 4.3, specification 4.2). */
function expectValid(
  channel: Channel,
  count: { onlyEmptyTopic?: true; namedTopics?: number } | undefined,
): void {
  const { isPrivate, isWebPublic, historyPublicToSubscribers: isShared, isDefault, groups } = channel;
  expect(isWebPublic && (isPrivate || !isShared)).toBe(false);
  expect(isPrivate || isShared).toBe(true);
  expect(isPrivate && isDefault).toBe(false);
  expect(isShared || groups.can_create_topic_group === everyone.id).toBe(true);
  for (const name of [
    'can_add_subscribers_group',
    'can_administer_channel_group',
    'can_subscribe_group',
  ] as const)
    expect(groups[name]).not.toBe(everyone.id);
  expect(count?.onlyEmptyTopic === true).toBe(channel.topicsPolicy === 'empty_topic_only');
  expect(count?.onlyEmptyTopic === true && (count.namedTopics ?? 0) > 0).toBe(false);
}

/** What a channel must be like after an edit that was accepted: each thing as asked, nothing else different. */
function expectDone(before: Channel, after: Channel, { groups = {}, ...given }: AnyEdit, wire: object): void {
  const isPrivate = given.is_private ?? before.isPrivate;
  const retention = { '30': 30, unlimited: -1, realm_default: undefined, '0': 0 };
  const settings = Object.fromEntries(
    Object.keys(groups).map((name) => {
      const change = (wire as Readonly<Record<string, { new: GroupSetting }>>)[name];
      return [name, change && normalized(change.new)];
    }),
  );
  expect(after).toMatchObject({
    description: given.description ?? before.description,
    name: given.new_name?.trim() ?? before.name,
    isPrivate,
    isWebPublic: given.is_web_public ?? before.isWebPublic,
    historyPublicToSubscribers:
      given.history_public_to_subscribers ??
      (given.is_private === undefined ? before.historyPublicToSubscribers : !isPrivate),
    isDefault: given.is_default_stream ?? before.isDefault,
    isArchived: given.is_archived === false ? false : before.isArchived,
    topicsPolicy: given.topics_policy ?? before.topicsPolicy,
    groups: { ...before.groups, ...settings },
  });
  expect(after.messageRetentionDays).toBe(
    given.message_retention_days === undefined
      ? before.messageRetentionDays
      : retention[given.message_retention_days],
  );
}

const sees = async (realm: TestRealm, person: Person, channelId: number): Promise<boolean> =>
  (await realm.call(get, person, undefined, { path: { stream_id: channelId } })).status === 200;

/** Reads all events of a client, which must be for a user who may see the channel, and updates its state. */
async function watch(realm: TestRealm, watcher: Watcher, channelId: number): Promise<void> {
  const maySee = await sees(realm, watcher.person, channelId);
  for (const event of await watcher.client.poll()) {
    if (event.type !== 'stream') continue;
    if (event.op === 'delete') {
      expect(event.stream_ids).toEqual([channelId]);
      expect(watcher.knows).toBe(true);
      watcher.knows = false;
      continue;
    }
    expect(maySee).toBe(true);
    if (event.op === 'update') expect(watcher.knows).toBe(true);
    if (event.op === 'create') watcher.knows = true;
  }
  expect(watcher.knows).toBe(maySee);
}

it('random edits by random callers leave a valid channel, are atomic, and send events only to users who may get them (specification 4.2)', async () => {
  await fc.assert(
    fc.asyncProperty(beginning, steps, async ({ isPrivate, subscribers, administrator }, steps) => {
      const realm = await newRealm({ enable_spectator_access: true });
      const people = { ...realm.people, stranger: await givenUser(realm) };
      const { groupId } = await givenGroup(realm, { members: [people.moderator, people.guest] });
      const { channelId } = await givenChannel(
        realm,
        { isPrivate, groups: { can_administer_channel_group: onlyUser(people[administrator].userId) } },
        subscribers.map((name) => people[name]),
      );
      const taken = await givenChannel(realm, { name: 'taken' });
      const hidden = await givenChannel(realm, { name: 'hidden', isPrivate: true });
      const settings: Readonly<Record<Word, GroupSetting>> = {
        nobody: systemGroups.nobody.id,
        everyone: everyone.id,
        members: systemGroups.members.id,
        moderators: systemGroups.moderators.id,
        member: onlyUser(people.member.userId),
        group: groupId,
        mixed: { direct_members: [people.stranger.userId, people.guest.userId], direct_subgroups: [groupId] },
      };
      const capable = { event_types: ['stream'], client_capabilities: { archived_channels: true } };
      const watchers: Watcher[] = [];
      for (const person of Object.values(people)) {
        const client = await givenClient(realm, person, capable);
        watchers.push({ person, client, knows: await sees(realm, person, channelId) });
      }
      for (const step of steps) {
        const { groups = {}, ...given } = step.edit;
        const changes = Object.entries(groups).map(([name, word]) => [name, { new: settings[word] }]);
        const wire = { ...given, ...Object.fromEntries(changes) };
        const [before, last] = [await storedChannel(realm, channelId), await lastNumber(realm)];
        const { status } = await edit(realm, people[step.who], channelId, wire);
        const after = await storedChannel(realm, channelId);
        if (status === 200) {
          expectDone(before, after, step.edit, wire);
        } else {
          expect(status).toBe(400);
          expect(after).toEqual(before);
          expect(await toldOfChannels(realm, last)).toEqual([]);
          expect(await noticesAfter(realm, last)).toEqual([]);
        }
        expectValid(after, await storedCount(realm, channelId));
        expect(await channelIdOf(realm, after.name)).toBe(channelId);
        // Old enough to be whole, so that no poll waits for it.
        realm.pass(WHOLE);
        for (const watcher of watchers) await watch(realm, watcher, channelId);
      }
      expect(await channelIdOf(realm, 'taken')).toBe(taken.channelId);
      expect(await channelIdOf(realm, 'hidden')).toBe(hidden.channelId);
    }),
    { numRuns: 6 },
  );
}, 120_000);
