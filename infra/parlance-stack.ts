import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import type { QueueWorker, ScheduledWorker, Worker } from '../shared/endpoints/worker.ts';
import type { Bundles } from './build.ts';
import { ChatTable } from './chat-table.ts';
import { EndpointFunction } from './endpoint-function.ts';
import { operatorSettingsOf } from './operator-settings.ts';
import { PrivateBucket } from './private-bucket.ts';
import type { Resources } from './resources.ts';
import { RestApi } from './rest-api.ts';
import { WorkQueue } from './work-queue.ts';
import { QueueWorkerFunction, ScheduledWorkerFunction } from './worker-function.ts';

export interface ParlanceStackProps {
  readonly endpoints: readonly Endpoint[];
  readonly workers: readonly Worker[];
  readonly bundles: Bundles;
}

/** `messages.send` becomes `MessagesSend`, `message-export` becomes `MessageExport`. */
const constructId = (name: string): string =>
  name.replace(/(?:^|[.-])([a-z0-9])/g, (_, first: string) => first.toUpperCase());

const isQueueWorker = (worker: Worker): worker is QueueWorker => 'queue' in worker;
const isScheduledWorker = (worker: Worker): worker is ScheduledWorker => 'schedule' in worker;

/** One resource for each name, in an order that does not depend on who needs it first. */
const oneForEach = <T>(names: Iterable<string>, make: (name: string) => T): ReadonlyMap<string, T> =>
  new Map([...new Set(names)].sort().map((name) => [name, make(name)]));

/** The whole service: what functions need, the functions, and the gateway before them. */
export class ParlanceStack extends Stack {
  constructor(scope: Construct, id: string, { endpoints, workers, bundles }: ParlanceStackProps) {
    super(scope, id, { description: 'Parlance: a team chat service with no servers to run.' });
    const needs = [...endpoints, ...workers].map((declaration) => declaration.needs);
    const bucketNames = needs.flatMap(({ buckets = {} }) => Object.keys(buckets));
    const secretNames = needs.flatMap(({ secrets = [] }) => secrets);
    const sources = workers.filter(isQueueWorker).map((worker) => ({
      worker,
      work: new WorkQueue(this, `${constructId(worker.queue.name)}Work`, worker),
    }));
    const resources: Resources = {
      table: new ChatTable(this, 'Table'),
      queues: new Map(sources.map(({ worker, work }) => [worker.queue.name, work.queue])),
      buckets: oneForEach(bucketNames, (name) => new PrivateBucket(this, `${constructId(name)}Bucket`)),
      secrets: oneForEach(secretNames, (name) => this.secret(name)),
      key: needs.some(({ key }) => key) ? this.key() : undefined,
      settings: operatorSettingsOf(this.node),
    };

    const made = (declaration: { readonly id: string }) => {
      const bundle = bundles[declaration.id];
      if (!bundle) throw new Error(`${declaration.id} has not been built.`);
      return { bundle, resources };
    };
    for (const { worker, work } of sources) {
      new QueueWorkerFunction(this, constructId(worker.id), { worker, queue: work.queue, ...made(worker) });
    }
    for (const worker of workers.filter(isScheduledWorker)) {
      new ScheduledWorkerFunction(this, constructId(worker.id), { worker, ...made(worker) });
    }
    const functions = endpoints.map(
      (endpoint) => new EndpointFunction(this, constructId(endpoint.id), { endpoint, ...made(endpoint) }),
    );
    new RestApi(this, 'Api', functions);
  }

  /** A secret without a value: the operator sets it, and until then what needs it is not configured. */
  private secret(name: string): CfnSecret {
    return new CfnSecret(this, `${constructId(name)}Secret`, {
      name: `${this.stackName}/${name}`,
      description: `Parlance: ${name}`,
    });
  }

  /** The key that seals what other services trust us with. What it sealed is lost with it, so it stays. */
  private key(): Key {
    return new Key(this, 'TokenKey', {
      description: 'Parlance: seals the tokens of other services at rest.',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}
