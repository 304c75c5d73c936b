import { randomUUID } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { expect, inject, test } from 'vitest';
import { PutCommand, TransactWriteCommand, UpdateCommand } from '../../shared/table/commands.ts';
import { indexes } from '../../shared/table/keys.ts';
import { Meter } from '../support/meter.ts';
import { TABLE } from '../support/store.ts';
import { storeClient } from '../support/store-client.ts';
import { DeleteCommand } from '../support/store-commands.ts';

/*
 * The units that docs/COST.md and docs/LIMITS.md rest on are those that the bundled engine says it used. So it has to
 * count by the rules that AWS publishes. docs/CONFORMANCE.md has the rules, and where they stand.
 */

type Change = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const TableName = TABLE;
const Key = { pk: `units/${randomUUID()}`, sk: 'item' };
const indexed = Object.fromEntries(
  Object.values(indexes).flatMap(({ pk, sk }) => [
    [pk, Key.pk],
    [sk, 'entry'],
  ]),
);
const short = { ...Key, ...indexed, topic: 'greetings' };
/** More than 2 KB and less than 3. The indexes do not carry the text, so their entries stay small. */
const long = { ...short, content: 'x'.repeat(2_500) };

const put = (Item: object): Change => ({ Put: { TableName, Item: { ...Item } } });
const set = (name: string): Change => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'SET #name = :value',
    ExpressionAttributeNames: { '#name': name },
    ExpressionAttributeValues: { ':value': randomUUID() },
  },
});
const remove: Change = { Delete: { TableName, Key } };
const check: Change = { ConditionCheck: { TableName, Key, ConditionExpression: 'attribute_exists(pk)' } };

/** Write units of one change to an item that is there already, or not. */
async function unitsOf(before: object | undefined, change: Change, isTransaction: boolean): Promise<number> {
  const send = storeClient(inject('dynamodb'));
  await send(new DeleteCommand({ TableName, Key }));
  if (before) await send(new PutCommand({ TableName, Item: { ...before } }));
  const meter = new Meter();
  const measured = meter.around(send);
  if (isTransaction) await measured(new TransactWriteCommand({ TransactItems: [change] }));
  else if (change.Put) await measured(new PutCommand(change.Put));
  else if (change.Update) await measured(new UpdateCommand({ ...change.Update }));
  else if (change.Delete) await measured(new DeleteCommand(change.Delete));
  return meter.writeUnits;
}

test.each([
  // what, before, change, units of the item, units of its two index entries
  ['a new item', undefined, put({ ...Key }), 1, 0],
  ['a new item that both indexes carry', undefined, put(short), 1, 2],
  ['a new item of 3 KB', undefined, put(long), 3, 2],
  ['an attribute that no index carries', long, set('other'), 3, 0],
  ['an attribute that both indexes carry', long, set('topic'), 3, 2],
  ['the key of one index, whose entry is deleted and written', long, set(indexes.channel.pk), 3, 2],
  ['the same item once more', long, put(long), 3, 0],
  ['a smaller item in place of a larger one', long, put(short), 3, 0],
  ['a deletion', long, remove, 3, 2],
] as const)(
  '%s costs twice the item in a transaction, and each index entry once',
  {
    tags: 'units',
  },
  async (_, before, change, item, entries) => {
    expect([await unitsOf(before, change, false), await unitsOf(before, change, true)]).toEqual([
      item + entries,
      2 * item + entries,
    ]);
  },
);

test('a check in a transaction costs as much as a write of the item', { tags: 'units' }, async () => {
  expect(await unitsOf(long, check, true)).toBe(6);
});
