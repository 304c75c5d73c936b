import { expect, test } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { sendTo } from '../support/event-queue.ts';
import { requestOf } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** Bytes for each write unit; a transaction takes two of them. */
const UNIT = 1_024;

interface Element {
  readonly Put?: { readonly Item: Readonly<Record<string, unknown>> };
  readonly Update?: { readonly Key: { readonly pk: string; readonly sk: string } };
}

/** Write units of a send in each partition, by the part of its key that follows the realm. */
async function partitionsOf(realm: TestRealm, parameters: object): Promise<Record<string, number>> {
  const keys: { readonly pk: string; readonly sk: string; readonly each: number }[] = [];
  const container = realm.container((store) => (command) => {
    const { input } = command as { readonly input: { Key?: never; TransactItems?: readonly Element[] } };
    const kind = requestOf(command);
    if (kind === 'update') keys.push({ ...(input.Key as never as { pk: string; sk: string }), each: 1 });
    for (const { Put, Update } of input.TransactItems ?? []) {
      const key = Put?.Item ?? Update?.Key;
      if (key) keys.push({ pk: String(key.pk), sk: String(key.sk), each: 2 });
    }
    return store(command);
  });
  const { status } = await container.call(send, realm.people.member, { type: 'channel', ...parameters });
  expect(status).toBe(200);
  const units: Record<string, number> = {};
  for (const { pk, sk, each } of keys) {
    const item = await realm.outside.table.get({ pk, sk });
    const name = pk.split('/')[1] ?? '';
    units[name] = (units[name] ?? 0) + each * Math.ceil(Buffer.byteLength(JSON.stringify(item)) / UNIT);
  }
  return units;
}

test('a send writes to each partition what docs/LIMITS.md assumes', async () => {
  const realm = await newRealm();
  await sendTo(realm, realm.people.member, realm.channels.general, 'first');
  const message = { to: 'general', topic: 'hi', content: 'hello' };
  expect(await partitionsOf(realm, message)).toEqual({ counter: 1, log: 2, channel: 2 });
  const remembered = { ...message, queue_id: 'q', local_id: '1' };
  expect(await partitionsOf(realm, remembered)).toEqual({ counter: 1, log: 2, channel: 2, user: 2 });
  // The text and what is shown of it are stored together.
  const long = { ...message, content: 'word '.repeat(400) };
  expect(await partitionsOf(realm, long)).toEqual({ counter: 1, log: 10, channel: 2 });
});
