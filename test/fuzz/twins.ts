import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { handler as register } from '../../functions/events/register.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as registerDevice } from '../../functions/push/registerDevice.ts';
import { handler as updateRealm } from '../../functions/realm/update.ts';
import { handler as setStatus } from '../../functions/users/setStatus.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { handlers } from '../support/handlers.ts';
import { basic } from '../support/raw-request.ts';
import { onlyDeclared, type Person, type Reply } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { Pick, type PoolName } from './draft.ts';
import { faultOf, textOf } from './oracle.ts';
import { type RequestDraft, requestsTo, written } from './request.ts';
import { newMark } from './secrets.ts';
import type { Side } from './world.ts';

/** Something that exists but is hidden from those who call, and the like of it that never existed. */
export interface Twins {
  readonly pool: PoolName;
  readonly what: string;
  readonly hidden: string | number;
  readonly missing: string | number;
  /** From whom it is hidden: of the names of demo accounts. */
  readonly from: readonly ('owner' | 'moderator' | 'member' | 'guest' | 'bot')[];
}

const everyone = ['owner', 'moderator', 'member', 'guest', 'bot'] as const;
const ordinary = ['moderator', 'member', 'guest', 'bot'] as const;

/**
 * Hides one thing of each kind, and finds an id for its twin right beside it: a number that went to an event, so that
 * the order of ids tells nothing either.
 */
export async function twinsIn({ realm, keys }: Side): Promise<readonly Twins[]> {
  const { owner } = realm.people;
  await done(
    realm.call(updateRealm, owner, { can_access_all_users_group: { new: systemGroups.members.id } }),
  );
  const email = () => `${newMark()}@example.com`;
  const first = await givenUser(realm, { email: email(), fullName: newMark() });
  const second = await givenUser(realm, { email: email(), fullName: newMark() });
  keys.set(first.userId, first.apiKey);
  const passed = async (): Promise<number> => {
    await done(realm.call(setStatus, owner, { status_text: newMark() }));
    return lastNumber(realm);
  };
  const noUser = await passed();
  const name = newMark();
  const groups = {
    can_administer_channel_group: onlyUser(first.userId),
    can_add_subscribers_group: onlyUser(first.userId),
  };
  const channel = await givenChannel(realm, { name, isPrivate: true, groups }, [first, second]);
  const noChannel = await passed();
  const said = async (where: object): Promise<number> =>
    (await done(realm.call(send, first, { ...where, topic: 'secrets', content: newMark() }))).body.id;
  const inChannel = await said({ type: 'channel', to: channel.channelId });
  const noMessage = await passed();
  const direct = await said({ type: 'direct', to: [second.userId] });
  const noDirect = await passed();
  const { body: queue } = await done(realm.call(register, first, { fetch_event_types: ['message'] }));
  const { body: device } = await done(realm.call(registerDevice, first));
  const noDevice = await passed();
  return [
    {
      pool: 'channelId',
      what: 'a private channel',
      hidden: channel.channelId,
      missing: noChannel,
      from: ordinary,
    },
    { pool: 'channelName', what: 'its name', hidden: name, missing: newMark(), from: ordinary },
    { pool: 'messageId', what: 'a message in it', hidden: inChannel, missing: noMessage, from: everyone },
    {
      pool: 'messageId',
      what: 'a direct message of others',
      hidden: direct,
      missing: noDirect,
      from: everyone,
    },
    {
      pool: 'queueId',
      what: "somebody's queue",
      hidden: queue.queue_id,
      missing: randomUUID(),
      from: everyone,
    },
    {
      pool: 'deviceId',
      what: "somebody's device",
      hidden: device.device_id,
      missing: noDevice,
      from: everyone,
    },
    {
      pool: 'userId',
      what: 'somebody whom guests may not know',
      hidden: second.userId,
      missing: noUser,
      from: ['guest'],
    },
    { pool: 'email', what: 'their address', hidden: second.email, missing: email(), from: ['guest'] },
  ];
}

async function done(reply: Promise<Reply>): Promise<Reply> {
  const { status, body } = await reply;
  if (status !== 200) throw new Error(`nothing was hidden: ${body.msg}`);
  return reply;
}

/** Whether the request speaks of something of this kind. */
export const speaksOf = (value: unknown, pool: PoolName): boolean =>
  value instanceof Pick
    ? value.pool === pool
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some((part) => speaksOf(part, pool));

/** Requests to an endpoint that are valid if possible, so that they are refused only for the things that they name. */
export const properRequests = (endpoint: Endpoint, seed: number, count: number): RequestDraft[] =>
  fc.sample(requestsTo(endpoint), { seed, numRuns: count }).map((draft) => ({
    ...draft,
    proof: 'right',
    host: 'right',
    path: undefined,
    body: 'form',
    elsewhere: false,
    headers: {},
    files: endpoint.file === undefined ? 0 : 1,
  }));

/** A reply: its text without the one value by which twins differ anyway, and what is wrong with it by itself. */
export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly fault: string | undefined;
}

/** The reply to this request about one of the twins. */
export async function told(
  side: Side,
  as: Person,
  draft: RequestDraft,
  pool: PoolName,
  value: string | number,
  picture: Uint8Array,
): Promise<Answered> {
  const { realm } = side;
  const { endpoint } = draft;
  const pools = { ...side.pools, [pool]: [value] };
  const headers = { host: realm.host, authorization: basic(as), 'user-agent': 'Twins/1.0' };
  const sent = await written(draft, pools, pools, headers, picture);
  const environment = onlyDeclared(realm.outside.environment, endpoint.needs);
  const event = { ...sent, requestContext: { requestId: randomUUID(), domainName: realm.host } };
  const handler = handlers.get(endpoint.id) as Served;
  const answer = await handler.with({ ...realm.outside, environment })(event as never);
  const text = await textOf(answer);
  realm.reports.splice(0);
  return {
    status: answer.statusCode,
    text: text.replaceAll(String(value), '<it>'),
    fault: faultOf(endpoint, answer.statusCode, text),
  };
}
