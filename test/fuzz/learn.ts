import type { APIGatewayProxyResult } from 'aws-lambda';
import type { OwnPool } from './draft.ts';
import type { RequestDraft, Sent } from './request.ts';
import type { Actor, Side, World } from './world.ts';

/** Endpoints whose success tells something that later calls need. */
const TELLING: ReadonlySet<string> = new Set([
  ...['files.createTemporaryLink', 'events.register', 'calls.register', 'reactions.add', 'users.mute'],
  ...['users.create', 'users.regenerateKey', 'bots.create', 'bots.regenerateKey'],
  ...['signIn.fetchApiKey', 'signIn.devFetchApiKey', 'apiKeys.list'],
]);

/** Endpoints that make something of the caller's own: the pool of its ids, and the field of the reply that has them. */
const MAKING: Readonly<Record<string, readonly [OwnPool, string]>> = {
  'push.registerDevice': ['ownDeviceId', 'device_id'],
  'drafts.create': ['ownDraftId', 'ids'],
  'savedSnippets.create': ['ownSnippetId', 'saved_snippet_id'],
  'scheduledMessages.create': ['ownScheduledId', 'scheduled_message_id'],
  'reminders.create': ['ownReminderId', 'reminder_id'],
};

type Id = number | string;

/** Records that a user has something now. */
function own({ owned }: Side, userId: number, pool: OwnPool, ids: Id | readonly Id[]): void {
  const theirs = owned.get(userId) ?? {};
  owned.set(userId, { ...theirs, [pool]: [...(theirs[pool] ?? []), ids].flat() });
}

/** Keeps data of a reply that later calls need: queues, devices, and keys, which no other reply may contain. */
export function learn(
  { secrets, actors }: World,
  { side, person }: Actor,
  draft: RequestDraft,
  sent: Sent,
  { headers }: APIGatewayProxyResult,
  text: string,
): void {
  const { id } = draft.endpoint;
  const { userId } = person;
  const made = MAKING[id];
  if (made !== undefined) own(side, userId, made[0], JSON.parse(text)[made[1]]);
  if (!TELLING.has(id)) return;
  // Who signs in at the host of the other organization gets a key of that one.
  if (id.startsWith('signIn.') && draft.host === 'foreign') return;
  if (id === 'users.mute') {
    own(side, userId, 'ownMutedId', Number(sent.pathParameters?.muted_user_id));
    return;
  }
  if (id === 'calls.register') {
    const state = new URL(String(headers?.Location)).searchParams.get('state') ?? '';
    side.consents.set(state, String(headers?.['Set-Cookie']));
    return;
  }
  if (id === 'apiKeys.list') {
    const { api_keys: keys }: { api_keys: { id: string; is_current: boolean }[] } = JSON.parse(text);
    own(
      side,
      userId,
      'ownKeyId',
      keys.flatMap((key) => (key.is_current ? [] : [key.id])),
    );
    return;
  }
  if (id === 'reactions.add') {
    const form = new URLSearchParams(Buffer.from(sent.body ?? '', 'base64').toString());
    if (form.get('emoji_name') !== 'smile') return;
    own(side, userId, 'smiledId', Number(sent.pathParameters?.message_id));
    return;
  }
  if (id === 'files.createTemporaryLink') {
    side.links.push(JSON.parse(text).url);
    return;
  }
  const body: { queue_id?: string; user_id?: number; api_key?: string } = JSON.parse(text);
  if (body.queue_id !== undefined) side.queues.push(body.queue_id);
  if (body.api_key === undefined) return;
  const keyHolder = id === 'users.regenerateKey' ? userId : Number(sent.pathParameters?.bot_id);
  const keyed = body.user_id ?? keyHolder;
  secrets.push({ mark: body.api_key, what: `a new key, of user ${keyed}`, realm: side.realm.realm });
  side.keys.set(keyed, body.api_key);
  const { api_key: apiKey } = body;
  for (const actor of actors) {
    if (actor.side === side && actor.person.userId === keyed) actor.person = { ...actor.person, apiKey };
  }
}
