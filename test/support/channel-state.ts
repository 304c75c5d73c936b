import { expect } from 'vitest';
import { handler as update } from '../../functions/channels/update.ts';
import type { Channel } from '../../shared/model/channel/channel.ts';
import { entriesIn } from './log-entries.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/** Asks for changes of a channel. */
export const edit = (
  realm: TestRealm,
  as: Person,
  channelId: number,
  given: Readonly<Record<string, unknown>>,
): Promise<Reply> => realm.call(update, as, given, { path: { stream_id: channelId } });

/** The same, which must work. */
export async function edited(
  realm: TestRealm,
  as: Person,
  channelId: number,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { status, body } = await edit(realm, as, channelId, given);
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

/** The channel as it is stored. */
export async function storedChannel({ realm, outside }: TestRealm, channelId: number): Promise<Channel> {
  const channel = await outside.table.get('channel', { realm, channelId });
  if (channel === undefined) throw new Error(`there is no channel ${channelId}`);
  return channel;
}

/** The events of channels and default channels after this number of the log, for any audience. */
export async function toldOfChannels(
  realm: TestRealm,
  after: number,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const entries = await entriesIn(realm.log);
  return entries.flatMap((entry) =>
    entry.seq > after && entry.kind === 'event' && ['stream', 'default_streams'].includes(entry.payload.type)
      ? [entry.payload]
      : [],
  );
}

/** The notices of the service after this number: topic and text. */
export async function noticesAfter(
  realm: TestRealm,
  after: number,
): Promise<readonly { readonly topic: string | undefined; readonly content: string }[]> {
  const entries = await entriesIn(realm.log);
  return entries.flatMap((entry) =>
    entry.seq > after && entry.kind === 'message' && entry.client === 'Internal'
      ? [{ topic: entry.topic, content: entry.content }]
      : [],
  );
}

/** A `BAD_REQUEST`, as most refusals are. */
export const refused = { status: 400, body: { code: 'BAD_REQUEST' } };
export const invalidChannelId = { status: 400, body: { code: 'BAD_REQUEST', msg: 'Invalid channel ID.' } };

/** Checks that a request was refused in this way, without a change of the channel and without an event. */
export async function expectRefused(
  realm: TestRealm,
  as: Person,
  channelId: number,
  given: Readonly<Record<string, unknown>>,
  reply: object = refused,
): Promise<void> {
  const before = await storedChannel(realm, channelId);
  const last = await lastEntry(realm);
  expect(await edit(realm, as, channelId, given)).toMatchObject(reply);
  expect(await storedChannel(realm, channelId)).toEqual(before);
  expect(await lastEntry(realm)).toBe(last);
}

const lastEntry = async ({ log }: TestRealm): Promise<number> => (await entriesIn(log)).at(-1)?.seq ?? 0;
