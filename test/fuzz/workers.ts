import { join } from 'node:path';
import { workers } from '../../shared/endpoints/workers.ts';
import type { ServedQueue } from '../../shared/serve/worker.ts';
import type { TestRealm } from '../support/realm.ts';
import type { Work } from '../support/work-queue.ts';
import { queued, runQueue } from '../support/worker-run.ts';
import type { Side } from './world.ts';

/** The real handlers of workers, by the queue that feeds each. */
const handlers = new Map<string, ServedQueue>(
  await Promise.all(
    workers.flatMap((worker) => {
      if (!('queue' in worker)) return [];
      const file = join(import.meta.dirname, '../../functions/workers', `${worker.id}.ts`);
      return import(file).then((module): [string, ServedQueue] => [worker.queue.name, module.handler]);
    }),
  ),
);

/** The container of each worker: the tools of a function are made once in it. */
const containers = new WeakMap<Work, TestRealm>();

function containerOf(queue: Work, realm: TestRealm): TestRealm {
  const known = containers.get(queue) ?? { ...realm, outside: { ...realm.outside } };
  containers.set(queue, known);
  return known;
}

/** Runs the workers on all queues of an organization, and returns their failures. */
export async function workOff({ realm, work }: Side): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [name, queue] of work) {
    const handler = handlers.get(name);
    if (handler === undefined) continue;
    for (;;) {
      const messages = await queue.receive();
      if (messages.length === 0) break;
      const records = messages.map(({ Body = '' }) => queued(Body));
      const { batchItemFailures } = await runQueue(containerOf(queue, realm), handler, records);
      if (batchItemFailures.length > 0) {
        const said = [
          ...messages.map(({ Body }) => Body),
          ...realm.reports.map((line) => JSON.stringify(line)),
        ];
        faults.push([`the worker of ${name} fails`, ...said].join('\n  '));
      }
      await Promise.all(messages.map(queue.done));
    }
  }
  return faults;
}
