import {
  BatchGetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '../../shared/table/commands.ts';
import type { Send } from '../../shared/table/table.ts';

/** What kind of request a command is, as the tests name it. */
export type Request = 'transact' | 'put' | 'update' | 'query' | 'get';

export function requestOf(command: object): Request {
  if (command instanceof TransactWriteCommand) return 'transact';
  if (command instanceof PutCommand) return 'put';
  if (command instanceof UpdateCommand) return 'update';
  if (command instanceof QueryCommand) return 'query';
  if (command instanceof BatchGetCommand) return 'get';
  throw new Error(`nobody expected a ${command.constructor.name}`);
}

/** An error as the SDK raises it under this name. */
export const fault = (name: string): Error => Object.assign(new Error(name), { name });

/** A transaction that met another one on the same item. */
export const conflict = (): Error =>
  Object.assign(fault('TransactionCanceledException'), {
    CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
  });

/** What happens to one request: it may be sent or not, and its reply may arrive or not. */
export type Mishap = (send: () => Promise<unknown>) => Promise<unknown>;

/** The request never arrives. */
export const lost: Mishap = async () => {
  throw fault('TimeoutError');
};

/** The request works, but its reply never arrives. */
export const unheard: Mishap = async (send) => {
  await send().catch(() => {});
  throw fault('TimeoutError');
};

/** The store refuses to work on it now. */
export const refusedWith =
  (error: () => Error): Mishap =>
  async () => {
    throw error();
  };

/**
 * Gives each request of a kind, in turn, the mishap that stands in its list; later ones and `undefined` go through
 * unharmed.
 */
export function mishaps(
  plan: Partial<Record<Request, readonly (Mishap | undefined)[]>>,
): (send: Send) => Send {
  const seen: Partial<Record<Request, number>> = {};
  return (send) => async (command) => {
    const kind = requestOf(command);
    const turn = seen[kind] ?? 0;
    seen[kind] = turn + 1;
    const mishap = plan[kind]?.[turn];
    return mishap ? mishap(() => send(command)) : send(command);
  };
}

/** Lets something happen between what a container has read and its first transaction. */
export const meanwhile = (act: () => Promise<unknown>): ((send: Send) => Send) =>
  mishaps({
    transact: [
      async (send) => {
        await act();
        return send();
      },
    ],
  });
