import { numberOf } from '../../shared/domain/event/queue.ts';
import type { ReadMessage } from '../../shared/log/slot.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Audited, audit } from '../support/audit/audit.ts';
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
import type { Client, Json } from './client.ts';
import { wrongHearing } from './heard.ts';
import { type Reader, readAll } from './reader.ts';
import type { Cast, Scene } from './scene.ts';
import { byMarker, messagesIn } from './truth.ts';

/** A client that reads, with the queue beside its own that nobody has read. */
export interface Audience {
  readonly reader: Reader;
  readonly twin: Json;
  /** Whether what its owner may see never changed. */
  readonly isSteady: boolean;
}

/** Most messages that are fetched at once. */
const PAGE = 500;

/** All messages that a user may see above an id. */
async function fetchAll(client: Client, after: number): Promise<Json[]> {
  const all: Json[] = [];
  for (let anchor = after; ; ) {
    const parameters = {
      anchor,
      num_before: 0,
      num_after: PAGE,
      include_anchor: false,
      apply_markdown: false,
    };
    const { messages, found_newest } = await client.must({ method: 'GET', path: 'messages', parameters });
    all.push(...messages);
    if (found_newest || messages.length === 0) return all;
    anchor = messages.at(-1).id;
  }
}

/** Those of these messages that a user may read. */
async function fetchThese(client: Client, ids: readonly number[]): Promise<Json[]> {
  const all: Json[] = [];
  for (let from = 0; from < ids.length; from += PAGE) {
    const parameters = { message_ids: ids.slice(from, from + PAGE), apply_markdown: false };
    const { messages } = await client.must({ method: 'GET', path: 'messages', parameters });
    all.push(...messages);
  }
  return all;
}

/** Holds what was acknowledged to what is there at the end, when all is quiet. Returns a sentence for each fault. */
export async function judge(
  scene: Scene,
  audience: readonly Audience[],
  realm: Audited,
): Promise<{
  readonly wrong: readonly string[];
  readonly messages: number;
  readonly audited: readonly string[];
}> {
  const messages = await messagesIn(realm);
  const ids = new Set(messages.map(({ id }) => id));
  const wrong = [
    ...scene.wrong,
    ...audience.flatMap(({ reader }) => reader.wrong),
    ...scene.claims.wrongSends(byMarker(messages)),
    ...(await wrongValues(scene, ids)),
    ...(await wrongAudience(scene, audience, messages)),
  ];
  // The audit moves the clock on, so it is the last.
  return { wrong, messages: messages.length, audited: await audit(realm) };
}

/** Compares the things that writers changed with the replies to them. */
async function wrongValues(scene: Scene, ids: ReadonlySet<number>): Promise<string[]> {
  const values = new Map<string, string>();
  const written = scene.messages.map(({ id }) => id);
  for (const writer of scene.writers) {
    for (const message of await fetchThese(writer.client, written))
      noteMessage(scene, values, writer, message);
    await noteOwn(scene, values, writer);
  }
  for (const id of written) values.set(goneOf(id), ids.has(id) ? 'there' : 'gone');
  await noteShared(scene, values);
  const { claims } = scene;
  return claims.things.flatMap((thing) => {
    const value = values.get(thing) ?? (isName(thing) ? 'no' : undefined);
    if (value !== undefined) return claims.wrongValue(thing, value);
    return isOfGone(thing, ids) ? [] : [`${thing} was not looked at`];
  });
}

/** Whether it says that there is something of a name. */
const isName = (thing: string): boolean => /^(channel|group|account) /.test(thing);

/** Whether it is about a message that is gone. */
const isOfGone = (thing: string, ids: ReadonlySet<number>): boolean => {
  const id = /\bmessage (\d+)/.exec(thing)?.[1];
  return id !== undefined && !ids.has(Number(id));
};

function noteMessage({ writers }: Scene, values: Map<string, string>, { userId }: Cast, message: Json): void {
  const { id, content, stream_id, subject, reactions, flags } = message;
  values.set(contentOf(id), content);
  values.set(placeOf(id), `${stream_id}/${subject}`);
  values.set(starOf(id, userId), flags.includes('starred') ? 'yes' : 'no');
  for (const writer of writers) {
    for (const emoji of ['tada', 'heart', 'octopus']) {
      const isThere = reactions.some(
        (one: Json) => one.user_id === writer.userId && one.emoji_name === emoji,
      );
      values.set(reactionOf(id, writer.userId, emoji), isThere ? 'yes' : 'no');
    }
  }
}

/** What is a user's own. */
async function noteOwn({ club, open }: Scene, values: Map<string, string>, writer: Cast): Promise<void> {
  const { client, userId } = writer;
  const state = await client.must({
    method: 'POST',
    path: 'register',
    parameters: { fetch_event_types: null },
  });
  const isIn = state.subscriptions.some(({ stream_id }: Json) => stream_id === club.channelId);
  values.set(subscriptionOf(userId, club.name), isIn ? 'yes' : 'no');
  for (const name of ['enter_sends', 'high_contrast_mode', 'starred_message_counts']) {
    values.set(settingOf(userId, name), String(state.user_settings?.[name] ?? state[name]));
  }
  for (const { channelId } of open) {
    const policy = state.user_topics.find(
      (one: Json) => one.stream_id === channelId && one.topic_name === 'quiet',
    );
    values.set(policyOf(userId, channelId, 'quiet'), String(policy?.visibility_policy ?? 0));
  }
}

/** What is everybody's. */
async function noteShared(
  { admin, open, groupId, writers }: Scene,
  values: Map<string, string>,
): Promise<void> {
  const { client } = admin;
  const { streams } = await client.must({ method: 'GET', path: 'streams' });
  for (const { name, stream_id, description } of streams) {
    values.set(nameTaken('channel', name), 'yes');
    if (open.some(({ channelId }) => channelId === stream_id)) {
      values.set(descriptionOf(stream_id), description);
    }
  }
  const { user_groups } = await client.must({ method: 'GET', path: 'user_groups' });
  for (const { id, name, members } of user_groups) {
    values.set(nameTaken('group', name), 'yes');
    if (id !== groupId || id <= systemGroups.internet.id) continue;
    for (const { userId } of writers)
      values.set(memberOf(id, userId), members.includes(userId) ? 'yes' : 'no');
  }
  const { members } = await client.must({ method: 'GET', path: 'users' });
  for (const { email, delivery_email } of members) {
    values.set(nameTaken('account', delivery_email ?? email), 'yes');
  }
}

/** Compares readers with the events at the end, with each other, and with a new registration. */
async function wrongAudience(
  scene: Scene,
  audience: readonly Audience[],
  messages: readonly ReadMessage[],
): Promise<string[]> {
  const open = new Set<number | undefined>(scene.open.map(({ channelId }) => channelId));
  // Whether it is where messages of the club may go, or come from.
  const isOpen = new Map(messages.map(({ id, channelId }) => [id, open.has(channelId)]));
  const isGone = (id: number): boolean => !isOpen.has(id);
  const wrong: string[] = [];
  for (const { reader, twin, isSteady } of audience) {
    const told = await readAll(reader.client, twin);
    const after = Math.max(reader.start, twin.last_event_id);
    const isFleeting = (id: number): boolean => !isSteady && isOpen.get(id) !== false;
    const { name, heard } = reader;
    wrong.push(...wrongHearing({ name, heard, told, after, isGone, isFleeting }));
    wrong.push(...(await reader.differences(isGone)));
    if (!isSteady) continue;
    wrong.push(...unheard(scene, reader, messages));
    const newest = numberOf(reader.start);
    const fetched = await fetchAll(reader.client, newest);
    wrong.push(...reader.cache.differences(reader.name, fetched, newest));
  }
  for (const [one, other] of pairs(audience.filter(({ isSteady }) => isSteady).map(({ reader }) => reader))) {
    if (one.client.person.userId !== other.client.person.userId) continue;
    const after = Math.max(one.start, other.start);
    const name = `${one.name}, beside ${other.name},`;
    const [heard, told] = [one.heard, other.heard];
    // One may have heard of a message just before it was deleted, and the other looked after that.
    wrong.push(...wrongHearing({ name, heard, told, after, isGone, isFleeting: isGone }));
  }
  return wrong;
}

/** The messages, as they are stored, that a watcher may see and never heard of. */
function unheard({ open, vault }: Scene, reader: Reader, messages: readonly ReadMessage[]): string[] {
  const seen = new Set<number | undefined>([...open, vault].map(({ channelId }) => channelId));
  const heard = new Set(reader.heard.flatMap(({ id, type }) => (type === 'message' ? [numberOf(id)] : [])));
  const { userId } = reader.client.person;
  return messages.flatMap(({ id, channelId, people }) =>
    id > numberOf(reader.start) && (people?.includes(userId) ?? seen.has(channelId)) && !heard.has(id)
      ? [`${reader.name} never heard the message ${id}`]
      : [],
  );
}

const pairs = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((one, i) => list.slice(i + 1).map((other): [T, T] => [one, other]));
