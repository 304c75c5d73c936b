import type { APIGatewayProxyResult } from 'aws-lambda';
import type { RequestDraft, Sent } from './request.ts';
import type { Actor, World } from './world.ts';

/** Endpoints of which a success says something that later calls need. */
const TELLING: ReadonlySet<string> = new Set([
  ...[
    'files.createTemporaryLink',
    'events.register',
    'push.registerDevice',
    'calls.register',
    'reactions.add',
  ],
  ...['users.create', 'users.regenerateKey', 'bots.create', 'bots.regenerateKey'],
]);

/** Keeps what a reply tells that later calls need: queues, devices, and keys, which no other reply may tell. */
export function learn(
  { secrets, actors }: World,
  { side, person }: Actor,
  draft: RequestDraft,
  sent: Sent,
  { headers }: APIGatewayProxyResult,
  text: string,
): void {
  const { id } = draft.endpoint;
  if (!TELLING.has(id)) return;
  const { userId } = person;
  if (id === 'calls.register') {
    const state = new URL(String(headers?.Location)).searchParams.get('state') ?? '';
    side.consents.set(state, String(headers?.['Set-Cookie']));
    return;
  }
  if (id === 'reactions.add') {
    const form = new URLSearchParams(Buffer.from(sent.body ?? '', 'base64').toString());
    if (form.get('emoji_name') !== 'smile') return;
    side.smiles.set(userId, [...(side.smiles.get(userId) ?? []), Number(sent.pathParameters?.message_id)]);
    return;
  }
  if (id === 'files.createTemporaryLink') {
    side.links.push(JSON.parse(text).url);
    return;
  }
  const body: { queue_id?: string; device_id?: number; user_id?: number; api_key?: string } =
    JSON.parse(text);
  if (body.queue_id !== undefined) side.queues.push(body.queue_id);
  if (body.device_id !== undefined)
    side.devices.set(userId, [...(side.devices.get(userId) ?? []), body.device_id]);
  if (body.api_key === undefined) return;
  const own = id === 'users.regenerateKey' ? userId : Number(sent.pathParameters?.bot_id);
  const keyed = body.user_id ?? own;
  secrets.push({ mark: body.api_key, what: `a new key, of user ${keyed}`, realm: side.realm.realm });
  side.keys.set(keyed, body.api_key);
  const { api_key: apiKey } = body;
  for (const actor of actors) {
    if (actor.side === side && actor.person.userId === keyed) actor.person = { ...actor.person, apiKey };
  }
}
