import {
  contentOf,
  descriptionOf,
  goneOf,
  memberOf,
  nameTaken,
  placeOf,
  policyOf,
  reactionOf,
  settingOf,
  starOf,
  subscriptionOf,
} from './claims.ts';
import { pick } from './random-choice.ts';
import type { Channel, Known, Scene, Writer } from './scene.ts';
import { send } from './sending.ts';

/*
 * What writers do at random. Each deed ends with an answer or without one, and says so to the claims.
 */

type Deed = (scene: Scene, writer: Writer) => Promise<void>;

/** Messages move between topics one by one, or together, so that nobody knows where each of them is. */
const topics = { single: ['opening', 'middle game', 'endgame'], together: ['drift', 'driftwood'] } as const;
const spoken: readonly string[] = Object.values(topics).flat();
/** Nobody says anything there: who writes to a topic follows it, and policies follow the messages of one that moves. */
const SILENT = 'quiet';
const isIn = (list: readonly string[], place: string): boolean =>
  list.some((topic) => place.endsWith(`/${topic}`));

const emoji = ['tada', 'heart', 'octopus'] as const;
const settings = ['enter_sends', 'high_contrast_mode', 'starred_message_counts'] as const;

/** One of the latest messages that pass, if there is any. */
function latest(scene: Scene, { random }: Writer, passes: (message: Known) => boolean): Known | undefined {
  const found = scene.messages.slice(-80).filter(passes);
  return found.length === 0 ? undefined : pick(random, found);
}

const isSeenBy =
  ({ vault }: Scene, { userId }: Writer, insiders: readonly number[]) =>
  ({ people, place }: Known): boolean =>
    people?.includes(userId) ?? (!place?.startsWith(`${vault.channelId}/`) || insiders.includes(userId));

const insidersOf = ({ admin, writers, watchers }: Scene): number[] =>
  [admin, ...writers.slice(0, 2), ...watchers].map(({ userId }) => userId);

/** Any of the latest messages that the writer may read. */
const readable = (scene: Scene, writer: Writer): Known | undefined =>
  latest(scene, writer, isSeenBy(scene, writer, insidersOf(scene)));

const own = (scene: Scene, writer: Writer): Known | undefined =>
  latest(scene, writer, ({ sender }) => sender === writer.userId);

const edits: Deed = async (scene, writer) => {
  const { claims } = scene;
  const message = own(scene, writer);
  if (message === undefined) return;
  const content = `${message.content} edited ${writer.count}`;
  const path = `messages/${message.id}`;
  const outcome = await writer.client.insist({ method: 'PATCH', path, parameters: { content } });
  claims.give(contentOf(message.id), message.content, content, outcome);
};

const deletes: Deed = async (scene, writer) => {
  const message = own(scene, writer);
  if (message === undefined) return;
  const asked = { method: 'DELETE', path: `messages/${message.id}` } as const;
  const outcome = await writer.client.insist(asked, /Invalid message/);
  scene.claims.give(goneOf(message.id), 'there', 'gone', outcome);
};

/** Moves one message, or all of the topic from which they go together. */
const moves: Deed = async (scene, writer) => {
  const { open, claims } = scene;
  const { random, client } = writer;
  const mayMove = ({ place = '' }: Known): boolean =>
    open.some(({ channelId }) => place.startsWith(`${channelId}/`));
  const message = latest(scene, writer, mayMove);
  if (message?.place === undefined) return;
  const isDrifting = isIn(topics.together, message.place);
  const [to, topic] = [pick(random, open), pick<string>(random, topics[isDrifting ? 'together' : 'single'])];
  const parameters = {
    topic,
    stream_id: to.channelId,
    propagate_mode: isDrifting ? pick(random, ['change_all', 'change_later']) : 'change_one',
    send_notification_to_new_thread: random() < 0.2,
    send_notification_to_old_thread: random() < 0.2,
  };
  const outcome = await client.insist({ method: 'PATCH', path: `messages/${message.id}`, parameters });
  if (!isDrifting) claims.give(placeOf(message.id), message.place, `${to.channelId}/${topic}`, outcome);
};

const reacts: Deed = async (scene, writer) => {
  const message = readable(scene, writer);
  if (message === undefined) return;
  const { random, client, userId } = writer;
  const [emoji_name, isAdded] = [pick(random, emoji), random() < 0.65];
  const asked = {
    method: isAdded ? 'POST' : 'DELETE',
    path: `messages/${message.id}/reactions`,
    parameters: { emoji_name },
  } as const;
  const outcome = await client.insist(asked, /REACTION_/);
  scene.claims.give(reactionOf(message.id, userId, emoji_name), 'no', isAdded ? 'yes' : 'no', outcome);
};

const stars: Deed = async (scene, writer) => {
  const message = readable(scene, writer);
  if (message === undefined) return;
  const op = pick(writer.random, ['add', 'add', 'remove'] as const);
  const parameters = { messages: [message.id], op, flag: 'starred' };
  const outcome = await writer.client.insist({ method: 'POST', path: 'messages/flags', parameters });
  scene.claims.give(starOf(message.id, writer.userId), 'no', op === 'add' ? 'yes' : 'no', outcome);
};

/** Marks some messages as read or unread; what is read is compared between the writer's program and the service. */
const reads: Deed = async (scene, writer) => {
  const messages = scene.messages.slice(-60).flatMap(({ id }) => (writer.random() < 0.4 ? [id] : []));
  const parameters = { messages, op: pick(writer.random, ['add', 'add', 'remove']), flag: 'read' };
  await writer.client.insist({ method: 'POST', path: 'messages/flags', parameters });
};

const comesOrGoes: Deed = async (scene, writer) => {
  const { club, claims } = scene;
  const isComing = writer.random() < 0.5;
  const asked = {
    method: isComing ? 'POST' : 'DELETE',
    path: 'users/me/subscriptions',
    parameters: { subscriptions: isComing ? [{ name: club.name }] : [club.name] },
  } as const;
  const outcome = await writer.client.insist(asked);
  claims.give(subscriptionOf(writer.userId, club.name), 'yes', isComing ? 'yes' : 'no', outcome);
};

const sets: Deed = async ({ claims }, { client, userId, random }) => {
  const [name, value] = [pick(random, settings), random() < 0.5];
  const outcome = await client.insist({ method: 'PATCH', path: 'settings', parameters: { [name]: value } });
  claims.give(settingOf(userId, name), undefined, String(value), outcome);
};

const mutes: Deed = async ({ claims, open }, { client, userId, random }) => {
  const [{ channelId }, topic] = [pick(random, open), pick(random, [...spoken, SILENT])];
  const parameters = { stream_id: channelId, topic, visibility_policy: pick(random, [0, 1, 2, 3]) };
  const outcome = await client.insist({ method: 'POST', path: 'user_topics', parameters });
  if (topic !== SILENT) return;
  claims.give(policyOf(userId, channelId, topic), '0', String(parameters.visibility_policy), outcome);
};

/** Several people describe the same channels. */
const describes: Deed = async ({ claims, open, admin }, writer) => {
  const { channelId } = pick(writer.random, open);
  const description = `as ${writer.name} sees it, ${writer.count}`;
  const asked = { method: 'PATCH', path: `streams/${channelId}`, parameters: { description } } as const;
  const outcome = await (writer.random() < 0.5 ? admin : writer).client.insist(asked);
  claims.give(descriptionOf(channelId), undefined, description, outcome);
};

/** Several people decide who is in the same group. */
const gathers: Deed = async ({ claims, groupId, writers }, { client, random }) => {
  const { userId } = pick(random, writers);
  const isAdded = random() < 0.5;
  const asked = {
    method: 'POST',
    path: `user_groups/${groupId}/members`,
    parameters: { [isAdded ? 'add' : 'delete']: [userId] },
  } as const;
  const outcome = await client.insist(asked, /is already a member|is not a member/);
  claims.give(memberOf(groupId, userId), 'no', isAdded ? 'yes' : 'no', outcome);
};

const createsChannel: Deed = async ({ claims }, { client, name, count }) => {
  const channel = `${name} ${count}`;
  const parameters = { subscriptions: [{ name: channel }] };
  const outcome = await client.insist({ method: 'POST', path: 'users/me/subscriptions', parameters });
  claims.give(nameTaken('channel', channel), 'no', 'yes', outcome);
};

const createsGroup: Deed = async ({ claims, writers }, { client, name, count }) => {
  const group = `${name} ${count}`;
  const members = writers.slice(0, 2).map(({ userId }) => userId);
  const parameters = { name: group, description: '', members };
  const asked = { method: 'POST', path: 'user_groups/create', parameters } as const;
  claims.give(nameTaken('group', group), 'no', 'yes', await client.insist(asked, /There is already/));
};

const createsAccount: Deed = async ({ claims, admin }, { name, count }) => {
  const email = `${name}-${count}@example.com`;
  const parameters = { email, full_name: `Soak ${name} ${count}` };
  const outcome = await admin.client.insist(
    { method: 'POST', path: 'users', parameters },
    /There is already/,
  );
  claims.give(nameTaken('account', email), 'no', 'yes', outcome);
};

const pings: Deed = async (_, { client }) => {
  const parameters = { status: 'active', ping_only: false };
  await client.insist({ method: 'POST', path: 'users/me/presence', parameters });
};

const sendsToChannel: Deed = async (scene, writer) => {
  const { open, vault } = scene;
  const isInside = insidersOf(scene).includes(writer.userId);
  const channel: Channel = pick(writer.random, isInside ? [...open, vault] : open);
  return send(scene, writer, { channel, topic: pick(writer.random, spoken) });
};

const sendsToPeople: Deed = async (scene, writer) => {
  const others = [...scene.writers, ...scene.watchers].map(({ userId }) => userId);
  const some = [pick(writer.random, others), ...(writer.random() < 0.4 ? [pick(writer.random, others)] : [])];
  return send(scene, writer, { people: [...new Set([writer.userId, ...some])].sort((a, b) => a - b) });
};

const weighted: readonly (readonly [number, Deed])[] = [
  [30, sendsToChannel],
  [10, sendsToPeople],
  [10, edits],
  [6, moves],
  [4, deletes],
  [16, reacts],
  [6, stars],
  [6, reads],
  [6, comesOrGoes],
  [3, sets],
  [4, mutes],
  [4, describes],
  [4, gathers],
  [1, createsChannel],
  [1, createsGroup],
  [1, createsAccount],
  [2, pings],
];
const deeds: readonly Deed[] = weighted.flatMap(([weight, deed]) => Array<Deed>(weight).fill(deed));

/** Does one thing. */
export async function act(scene: Scene, writer: Writer): Promise<void> {
  writer.count += 1;
  await pick(writer.random, deeds)(scene, writer);
}
