import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Needs, TableAction } from '../../shared/endpoints/endpoint.ts';
import { isOf } from '../../shared/table/keys.ts';

/** An endpoint or a worker: whatever has a policy of its own. */
interface Declared {
  readonly id: string;
  readonly needs: Needs;
}

/** What a call of a function asks of the table, in the words of its policy. */
interface Using {
  readonly used: Set<TableAction>;
}

const calls = new AsyncLocalStorage<Using>();

const ACTIONS: Readonly<Record<string, TableAction>> = {
  BatchGetCommand: 'BatchGetItem',
  QueryCommand: 'Query',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
};

const ELEMENTS: Readonly<Record<string, TableAction>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

interface Element {
  readonly Put?: { readonly Item: { readonly pk: string; readonly sk: string } };
}

const isSlot = isOf('slot');

/**
 * The actions that a command needs; a transaction needs one for each kind of its elements. One that writes to the log also
 * needs to query it: one commit of 256 saves a checkpoint (`shared/log/checkpoint.ts`), whether a test meets that or not.
 */
function actionsOf(command: object): TableAction[] {
  const { input } = command as { readonly input: { readonly TransactItems?: readonly Element[] } };
  const elements = input.TransactItems ?? [];
  const kinds = elements.flatMap((element) => Object.keys(element));
  const isCommit = elements.some(({ Put }) => Put !== undefined && isSlot(Put.Item));
  const found =
    kinds.length > 0
      ? [...kinds.map((kind) => ELEMENTS[kind]), ...(isCommit ? ['Query' as const] : [])]
      : [ACTIONS[command.constructor.name]];
  return found.map((action) => {
    if (action === undefined) throw new Error(`no policy knows the command ${command.constructor.name}`);
    return action;
  });
}

const counters = [isOf('requests'), isOf('keyUse')];
const isCount = (command: object): boolean => {
  const { Key } = (command as { readonly input: { readonly Key?: { pk: string; sk: string } } }).input;
  return (
    command.constructor.name === 'UpdateCommand' && Key !== undefined && counters.some((isOne) => isOne(Key))
  );
};

/** Notes that the call under way sends this command. */
export function noteCommand(command: object): void {
  const call = calls.getStore();
  // Every endpoint with callers may count their requests and note their keys (`countsRequests`).
  if (isCount(command)) return;
  if (call) for (const action of actionsOf(command)) call.used.add(action);
}

/** Where a run of all tests collects what functions used; `test/run.ts` compares it with what they may. */
export const GRANTS_FOLDER = 'PARLANCE_GRANTS';
const told = new Set<string>();

/**
 * Runs a call of a function and holds it to its policy: an action that is not among its needs fails the test, as
 * it would be refused on AWS. What was used is kept for the search for grants that nobody needs.
 */
export async function holdingToGrants<T>({ id, needs }: Declared, call: () => Promise<T>): Promise<T> {
  const using: Using = { used: new Set() };
  const result = await calls.run(using, call);
  for (const action of using.used) {
    if (!needs.table.includes(action)) throw new Error(`${id} uses ${action}, which is not among its needs`);
    const line = `${id} ${action}\n`;
    const folder = process.env[GRANTS_FOLDER];
    if (folder === undefined || told.has(line)) continue;
    told.add(line);
    appendFileSync(join(folder, `${process.pid}-${process.hrtime.bigint()}`), line);
  }
  return result;
}
