import type { BatchGetCommandOutput, QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { BatchGetCommand, QueryCommand, TransactWriteCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import type { Item } from '../../shared/table/write.ts';
import type { TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';

/** How a slot of the log was from a time (ms) on. */
interface Version {
  readonly from: number;
  readonly slot: Item;
}

/**
 * The indexes of one organization as they are where every change takes a while to show in them. Returns the
 * organization as it is seen from a container with such indexes: all writes to messages must come from it.
 */
export async function withLateIndexes(realm: TestRealm, late: number): Promise<TestRealm> {
  const pk = partition('slot', { realm: realm.realm });
  const { now } = realm.outside;
  const before = await realm.outside.table.all('slot', { realm: realm.realm });
  const versions = new Map<string, Version[]>(
    before.map((slot) => [slot.sk, [{ from: 0, slot: { ...slot } }]]),
  );
  const note = async (send: Send, sks: readonly string[]): Promise<void> => {
    if (sks.length === 0) return;
    const Keys = [...new Set(sks)].map((sk) => ({ pk, sk }));
    const request = { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } };
    const { Responses } = (await send(new BatchGetCommand(request))) as BatchGetCommandOutput;
    for (const slot of Responses?.[TABLE] ?? []) {
      versions.set(slot.sk, [...(versions.get(slot.sk) ?? []), { from: now(), slot }]);
    }
  };
  const shown = (): Item[] =>
    [...versions.values()].flatMap((all): Item[] => {
      const version = all.findLast(({ from }) => from <= now() - late);
      return version === undefined ? [] : [version.slot];
    });
  return realm.container((send) => async (command) => {
    if (command instanceof QueryCommand && command.input.IndexName !== undefined) {
      return answerTo(command.input, shown());
    }
    const answer = await send(command);
    if (command instanceof TransactWriteCommand) {
      const keys = (command.input.TransactItems ?? []).map(({ Put, Update }) => Put?.Item ?? Update?.Key);
      await note(
        send,
        keys.flatMap((key) => (key?.pk === pk ? [key.sk as string] : [])),
      );
    }
    return answer;
  });
}

/** What a query of an index finds among these items. */
function answerTo(query: QueryCommandInput, items: readonly Item[]): object {
  const { KeyConditionExpression = '', ExpressionAttributeNames: names = {}, ScanIndexForward } = query;
  const { ExpressionAttributeValues: values = {}, Limit = Number.POSITIVE_INFINITY } = query;
  const conditions = KeyConditionExpression.split(/ AND (?=#)/).map((text) => {
    const [, name = '', sign = '', low = '', high = ''] =
      /^(#\w+) (=|>=|<=|BETWEEN) (:\w+)(?: AND (:\w+))?$/.exec(text) ?? [];
    return { name: names[name] ?? text, sign, low: values[low], high: values[high] };
  });
  const meets = (item: Item): boolean =>
    conditions.every(({ name, sign, low, high }) => {
      const value = item[name];
      if (typeof value !== 'string') return false;
      if (sign === '=') return value === low;
      return (sign === '<=' || value >= low) && (sign === '>=' || value <= (sign === 'BETWEEN' ? high : low));
    });
  const rising = items.filter(meets).sort((a, b) => (String(a.sk) < String(b.sk) ? -1 : 1));
  const found = ScanIndexForward === false ? rising.reverse() : rising;
  const Items = found.slice(0, Limit);
  return { Items, ...(found.length > Limit && { LastEvaluatedKey: Items.at(-1) }) };
}
