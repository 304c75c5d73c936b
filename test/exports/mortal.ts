import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { s3Uploads } from '../../shared/adapters/uploads.ts';
import type { ExportTools } from '../../shared/domain/export/write.ts';
import type { TestRealm } from '../support/realm.ts';

/** What goes wrong with one of the calls that a run makes to its outside. */
export interface Trouble {
  /** Which one, from 1 on. */
  readonly at: number;
  /** Only that one fails, or everything from there on, as when Lambda ends the function. */
  readonly kind: 'once' | 'death';
  /** The call works, and only its answer is lost. */
  readonly unheard?: boolean;
  readonly error?: Error;
  /** Counts only calls of the table. */
  readonly table?: true;
}

/** A worker's outside in which one call goes wrong. */
export interface Mortal {
  readonly realm: TestRealm;
  readonly tools: ExportTools;
  /** Calls so far that could have gone wrong. */
  readonly calls: () => number;
}

/** The tools of a worker, as it makes them. */
export const toolsOfWorker = ({ outside: { environment } }: TestRealm): ExportTools => ({
  queues: sqsQueues(environment),
  objects: s3Objects(environment),
  uploads: s3Uploads(environment),
});

/** A container of the worker that counts all its calls together. It never pauses. */
export function mortal(realm: TestRealm, tools: ExportTools, trouble?: Trouble): Mortal {
  let calls = 0;
  let isDead = false;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    calls++;
    if (!isDead && calls !== trouble?.at) return call();
    isDead = trouble?.kind === 'death';
    if (trouble?.unheard && calls === trouble.at) await call();
    throw trouble?.error ?? new Error('the function ended');
  };
  const toolThrough: typeof through = trouble?.table ? (call) => call() : through;
  const container = realm.container((send) => (command) => through(() => send(command)), {
    wait: async () => {},
  });
  return {
    realm: container,
    tools: {
      queues: guarded(tools.queues, toolThrough),
      objects: guarded(tools.objects, toolThrough),
      uploads: guarded(tools.uploads, toolThrough),
    },
    calls: () => calls,
  };
}

/** The same tool with each method wrapped by `through`. */
function guarded<T extends object>(tool: T, through: <R>(call: () => Promise<R>) => Promise<R>): T {
  const methods = Object.entries(tool) as [string, (...args: unknown[]) => Promise<unknown>][];
  return Object.fromEntries(
    methods.map(([name, method]) => [name, (...args: unknown[]) => through(() => method(...args))]),
  ) as T;
}
