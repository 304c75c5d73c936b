import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as createFolder } from '../../functions/channelFolders/create.ts';
import { handler as addDomain } from '../../functions/domains/add.ts';
import { handler as addEmoji } from '../../functions/emoji/add.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as uploadFile } from '../../functions/files/upload.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as createField } from '../../functions/profileFields/create.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as createGroup } from '../../functions/userGroups/create.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { loadExports } from '../../shared/domain/export/realm-export.ts';
import { loadOwnFiles, type StoredFile } from '../../shared/domain/files/file.ts';
import { loadProfileFields } from '../../shared/domain/profile/field.ts';
import { loadPlaygrounds } from '../../shared/domain/realm-edit/playgrounds.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { operatorSettingNames } from '../../shared/endpoints/operator-setting.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { loadDefaultGroups } from '../../shared/model/channel/default-groups.ts';
import { type Role, roles } from '../../shared/model/permission/permission.ts';
import { loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { isMultiuse } from '../../shared/model/user/invitation.ts';
import { indexes } from '../../shared/table/keys.ts';
import { type Provider, startProvider } from '../support/call-provider.ts';
import { givenUser } from '../support/given.ts';
import { picture } from '../support/pictures.ts';
import { type FakeRelay, startRelay } from '../support/push-relay.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { type Work, workOf } from '../support/work-queue.ts';
import { type OwnPool, ownPools, PASSWORD, type Pools } from './draft.ts';
import { type Hidden, hide, newMark, type Secret } from './secrets.ts';

/** A user who calls, in one of the organizations. */
export interface Actor {
  readonly side: Side;
  person: Person;
  /** What they are again and again, whatever others make of them meanwhile. */
  readonly role: Role;
  readonly isBot: boolean;
}

/** One of two organizations that are being abused at the same time. */
export interface Side {
  readonly realm: TestRealm;
  readonly hidden: Hidden;
  /** Stands in names of this organization, which requests of the other one use too. */
  readonly label: string;
  /** A user who signs in with `PASSWORD`. */
  readonly withPassword: Person;
  /** Keys of everybody who has one, by user. */
  readonly keys: Map<number, string>;
  /** The queues of workers, by name. */
  readonly work: ReadonlyMap<string, Work>;
  /** Queues that were registered, newest last. */
  readonly queues: string[];
  /** What those who call have, by user, newest last. */
  readonly owned: Map<number, Partial<Record<OwnPool, readonly (number | string)[]>>>;
  /** States that were given to providers of video calls, newest last, with what the browser keeps meanwhile. */
  readonly consents: Map<string, string>;
  /** Polls and to-do lists, newest last. */
  readonly polls: Set<number>;
  /** Temporary addresses of files, newest last. */
  readonly links: string[];
  /** The files of those who call. */
  files: readonly StoredFile[];
  pools: Pools;
}

export interface World {
  readonly sides: readonly [Side, Side];
  /** Most of them belong to the first organization. */
  readonly actors: readonly Actor[];
  /** What no reply may tell; new keys come to it. */
  readonly secrets: Secret[];
  readonly picture: Uint8Array;
  /** Ends the services of others that the organizations use. */
  readonly stop: () => void;
}

/** Two organizations with some content, and people who call. */
export async function newWorld(): Promise<World> {
  const [provider, relay] = [await startProvider(), await startRelay()];
  const services = { ...servicesAt(provider, relay), DEVELOPMENT_SIGN_IN: 'true' };
  const [first, second] = [await newSide(services), await newSide(services)];
  const actors = [...actorsOf(first), ...actorsOf(first), ...actorsOf(second).slice(0, 2)];
  const secrets = [...first.hidden.secrets, ...second.hidden.secrets];
  const stop = (): void => {
    provider.stop();
    relay.stop();
  };
  return { sides: [first, second], actors, secrets, picture: await picture('png', 20, 20), stop };
}

const callers = [
  ['member', roles.member],
  ['owner', roles.owner],
  ['admin', roles.administrator],
  ['moderator', roles.moderator],
  ['guest', roles.guest],
  ['bot', roles.member],
] as const;

const actorsOf = (side: Side): Actor[] =>
  callers.map(([name, role]) => ({ side, person: side.realm.people[name], role, isBot: name === 'bot' }));

/** Other people's services: one address for each setting that wants one, at which nobody answers unless said. */
const servicesAt = (provider?: Provider, relay?: FakeRelay): Record<string, string> => {
  const nobody = 'http://127.0.0.1:9';
  const addresses = operatorSettingNames
    .filter((name) => /_(URL|ID)$/.test(name))
    .map((name) => {
      if (!name.endsWith('_URL')) return [name, 'abuse'];
      return [name, (name.startsWith('PUSH') ? relay : provider)?.address ?? nobody];
    });
  return Object.fromEntries(addresses);
};

/** What nobody has at first. */
const nothingYet = () => ({
  owned: new Map(),
  polls: new Set<number>(),
  consents: new Map(),
  links: [],
  files: [],
});

/** A wait takes the clock on and no time, so that a poll that finds nothing ends at once. */
export async function newSide(services = servicesAt()): Promise<Side> {
  const made = await newRealm();
  const wait = async (ms: number) => {
    made.pass(ms);
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 2)));
  };
  const realm = made.container(undefined, { wait, environment: services });
  const queues = [...endpoints, ...workers].flatMap(({ needs }) => needs.queues ?? []);
  const work = new Map<string, Work>();
  for (const name of new Set(queues)) work.set(name, await workOf(realm, name));
  const label = newMark();
  const hidden = await hide(realm, realm.people.moderator);
  const somebody = await fill(realm, label, hidden.inside);
  const known = [...Object.values(realm.people), ...hidden.hermits, somebody];
  const keys = new Map(known.map(({ userId, apiKey }) => [userId, apiKey]));
  const side: Side = {
    ...{ realm, hidden, label, keys, work, withPassword: somebody },
    ...{ queues: [], pools: {} as Pools, ...nothingYet() },
  };
  const { body } = await realm.call(register, realm.people.member, {});
  side.queues.push(body.queue_id);
  await refresh(side);
  return side;
}

/** Something of each kind: with the label in its name, and with the mark where it says more than that. */
async function fill(realm: TestRealm, label: string, mark: string): Promise<Person> {
  const { owner, member } = realm.people;
  const done = async (reply: Promise<Reply>): Promise<void> => {
    const { status, body } = await reply;
    if (status !== 200) throw new Error(`the world was not made: ${body.msg}`);
  };
  const somebody = await givenUser(realm, {
    fullName: `Somebody of ${label}`,
    email: `${label}@example.com`,
  });
  await done(realm.call(createGroup, owner, { name: `group ${label}`, description: '', members: [] }));
  await done(realm.call(createGroup, owner, { name: 'others', description: mark, members: [member.userId] }));
  await done(realm.call(createFolder, owner, { name: `folder ${label}`, description: mark }));
  await done(realm.call(addDomain, owner, { domain: `${label}.example.com`, allow_subdomains: true }));
  await done(realm.call(createField, owner, { name: 'languages', hint: mark, field_type: 1 }));
  await done(realm.call(createField, owner, { name: 'mentor', field_type: 6 }));
  await done(realm.call(createBot, member, { full_name: `Bot of ${label}`, short_name: label }));
  const files = [await picture('png', 20, 20)];
  await done(realm.call(addEmoji, owner, {}, { path: { emoji_name: label }, files }));
  for (let i = 0; i < 12; i++) {
    const to = i % 2 === 0 ? 'general' : 'random';
    const content = `${i} ${mark} @**Max Member** :tada:`;
    await done(
      realm.call(send, i % 3 === 0 ? owner : member, { type: 'channel', to, topic: `t${i % 4}`, content }),
    );
  }
  await done(realm.call(uploadFile, member, {}, { files }));
  await done(realm.call(updateSettings, somebody, { new_password: PASSWORD }));
  const poll = { type: 'channel', to: 'general', topic: 't0', content: '/poll Lunch?\nsoup\nbread' };
  await done(realm.call(send, member, poll));
  return somebody;
}

/** Looks into the table for what there is now. Newest first, and of what is much only that. */
export async function refresh(side: Side): Promise<void> {
  const { realm, hidden, queues, owned, consents } = side;
  const { table } = realm.outside;
  const at = { realm: realm.realm };
  const some = { descending: true, limit: 60 };
  const people = Object.values(realm.people);
  const [users, channels, groups, folders, emoji, here, slots, fields, exports, files] = await Promise.all([
    table.all('user', at, { ...some, limit: 1_000 }),
    table.all('channel', at, some),
    table.all('group', at, some),
    table.all('folder', at, some),
    table.all('emoji', at, some),
    Promise.all(Object.values(realm.channels).map((channelId) => messagesOf(realm, channelId))),
    table.all('slot', at, { ...some, limit: 80 }),
    loadProfileFields(table, realm.realm),
    loadExports(table, realm.realm),
    Promise.all(people.map(({ userId }) => loadOwnFiles(table, realm.realm, userId))),
  ]);
  const [linkifiers, playgrounds, defaultGroups, invitations] = await Promise.all([
    loadLinkifiers(table, realm.realm),
    loadPlaygrounds(table, realm.realm),
    loadDefaultGroups(table, realm.realm),
    table.all('invitation', at, some),
  ]);
  for (const slot of slots.toReversed()) if (slot.kind === 'message' && slot.widget) side.polls.add(slot.seq);
  side.files = files.flatMap((own) => own.slice(-5));
  const addresses = side.files.map(({ pathId }) => pathId.split('/'));
  const links = side.links.slice(-5).map((url) => url.split('/'));
  const messages = [...here.flat(), ...slots.filter((slot) => slot.kind === 'message')];
  // What is hidden stays so only as long as nobody happens to write it elsewhere.
  const topics = messages.flatMap(({ topic, channelId = 0 }) =>
    topic === undefined || hidden.channelIds.includes(channelId) ? [] : topic,
  );
  const familiar = users.filter(({ userId }) => people.some((person) => person.userId === userId));
  const shown = [...familiar, ...familiar, ...users.slice(0, 10), ...users.slice(-10)];
  const folderIds = folders.map(({ folderId }) => folderId);
  const pools: Pools = {
    userId: [...shown.map(({ userId }) => userId), ...hidden.hermits.map(({ userId }) => userId)],
    botId: users.filter(({ isBot }) => isBot).map(({ userId }) => userId),
    email: shown.map(({ email }) => email),
    fullName: shown.map(({ fullName }) => fullName),
    channelId: [
      ...Object.values(realm.channels),
      ...channels.slice(0, 15).map(({ channelId }) => channelId),
      ...hidden.channelIds,
    ],
    homeId: Object.values(realm.channels),
    passwordEmail: [side.withPassword.email],
    channelName: ['general', 'random', ...channels.slice(0, 15).map(({ name }) => name), ...hidden.names],
    topic: [...new Set(topics), ...hidden.topics, 't0'],
    messageId: [...messages.map(({ sk }) => Number(sk)), ...hidden.messageIds],
    // For queues that begin anywhere: where they began, and later events.
    eventId: [-1, ...messages.map(({ sk }) => eventIdOf(Number(sk)))],
    groupId: groups.slice(0, 15).map(({ groupId }) => groupId),
    groupName: groups.slice(0, 15).map(({ name }) => name),
    folderId: folderIds,
    fieldId: fields.fields.map(({ fieldId }) => fieldId),
    emojiName: emoji.slice(0, 15).map(({ name }) => name),
    emojiId: emoji.slice(0, 15).map(({ emojiId }) => `${emojiId}`),
    queueId: queues.slice(-20),
    deviceId: [...owned.values()].flatMap(({ ownDeviceId = [] }) => ownDeviceId.slice(-1)),
    domain: [`${side.label}.example.com`, 'example.com'],
    file: emoji.slice(0, 5).map(({ sourceUrl }) => `emoji/images/${sourceUrl.split('/').at(-1)}`),
    realmId: [realm.realm],
    exportId: exports.map(({ exportId }) => exportId),
    callState: [...consents.keys()].slice(-3),
    folderOrder: [folderIds, folderIds.toReversed()],
    pollId: [...side.polls].slice(-5),
    fileLink: side.files.map(({ pathId }) => `[a file](/user_uploads/${pathId})`),
    fileShard: addresses.map(([, shard = '']) => shard),
    fileToken: addresses.map(([, , token = '']) => token),
    fileName: addresses.map((parts) => parts.at(-1) ?? ''),
    linkSecret: links.map((parts) => parts.at(-2) ?? ''),
    linkName: links.map((parts) => parts.at(-1) ?? ''),
    linkifierId: linkifiers.list.map(({ id }) => id),
    linkifierOrder: [linkifiers.list.map(({ id }) => id).toReversed()],
    playgroundId: playgrounds.list.map(({ id }) => id),
    defaultGroupId: defaultGroups.list.map(({ id }) => id),
    inviteId: invitations.filter((each) => !isMultiuse(each)).map(({ inviteId }) => inviteId),
    joinLinkId: invitations.filter(isMultiuse).map(({ inviteId }) => inviteId),
    ...nothingOwned,
  };
  side.pools = pools;
}

const nothingOwned = Object.fromEntries(ownPools.map((pool) => [pool, []])) as unknown as Record<OwnPool, []>;

/** The same for a user who calls, with what is theirs: the newest of it, as what is older may be gone. */
export const poolsOf = ({ side, person }: Actor): Pools => {
  const theirs = Object.entries(side.owned.get(person.userId) ?? {});
  return {
    ...side.pools,
    ownFileId: side.files.flatMap(({ ownerId, attachmentId }) =>
      ownerId === person.userId ? [attachmentId] : [],
    ),
    ...Object.fromEntries(theirs.map(([pool, ids]) => [pool, ids.slice(-3)])),
  };
};

/** The newest messages of a channel. */
async function messagesOf({ realm, outside }: TestRealm, channelId: number) {
  const pk = indexes.channel.key(realm, channelId);
  const { items } = await outside.table.indexPage(indexes.channel, pk, { descending: true, limit: 25 });
  return items.map(({ sk, topic }) => ({ sk, topic, channelId }));
}
