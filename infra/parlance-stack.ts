import { Key } from 'aws-cdk-lib/aws-kms';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnOutput, Lazy, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { DAYS_KEPT, EXPORTS } from '../shared/domain/export/realm-export.ts';
import type { Endpoint, Needs } from '../shared/endpoints/endpoint.ts';
import { getEvents } from '../shared/endpoints/events.ts';
import { listenersFor } from '../shared/endpoints/listener.ts';
import { MAIL, type QueueWorker, type ScheduledWorker, type Worker } from '../shared/endpoints/workers.ts';
import { IMAGES } from '../shared/model/realm/picture.ts';
import { accept } from './accepted.ts';
import { AccessLogs } from './access-logs.ts';
import { Alarms } from './alarms.ts';
import { AreaLogs } from './area-logs.ts';
import type { Bundles } from './build.ts';
import { ChatTable } from './chat-table.ts';
import { configuredNeeds, configuredWorkers } from './configured-needs.ts';
import { type Deployment, deploymentOf } from './deployment-settings.ts';
import { Distribution } from './distribution.ts';
import { EndpointFunction } from './endpoint-function.ts';
import { FunctionRoles } from './function-roles.ts';
import { ListenerFunction } from './listener-function.ts';
import { MailIntake } from './mail-intake.ts';
import { operatorSettingsOf } from './operator-settings.ts';
import { Overview } from './overview.ts';
import { PrivateBucket } from './private-bucket.ts';
import { named, type Resources } from './resources.ts';
import { RestApi } from './rest-api.ts';
import { Tracing } from './tracing.ts';
import type { Watched } from './watched.ts';
import { WebAcl } from './web-acl.ts';
import { DeadLetters, WorkQueue } from './work-queue.ts';
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
  constructor(scope: Construct, id: string, declared: ParlanceStackProps) {
    const deployment = deploymentOf(scope.node);
    super(scope, id, {
      stackName: deployment.stackName,
      description: 'Parlance: a team chat service with no servers to run.',
      // CloudFormation accepts a million bytes, and white space would be a third of them.
      suppressTemplateIndentation: true,
    });
    const settings = operatorSettingsOf(this.node);
    const configured = <D extends { readonly needs: Needs }>(declaration: D): D => ({
      ...declaration,
      needs: configuredNeeds(declaration.needs, settings, declared.workers),
    });
    const workers = configuredWorkers(declared.workers, settings).map(configured);
    const endpoints = declared.endpoints.map(configured);
    const listeners = deployment.wait === 'web' ? listenersFor(endpoints).map(configured) : [];
    const needs = [...endpoints, ...workers].map((declaration) => declaration.needs);
    const bucketNames = needs.flatMap(({ buckets = {} }) => Object.keys(buckets));
    const secretNames = needs.flatMap(({ secrets = [] }) => secrets);
    const deadLetters = new DeadLetters(this, 'DeadLetters');
    const sources = workers.filter(isQueueWorker).map((worker) => ({
      worker,
      queue: new WorkQueue(this, `${constructId(worker.queue.name)}Work`, worker, deadLetters).queue,
    }));
    const resources: Resources = {
      table: new ChatTable(this, 'Table'),
      queues: new Map(sources.map(({ worker, queue }) => [worker.queue.name, queue])),
      buckets: this.buckets(bucketNames, deployment.logRetentionDays),
      secrets: oneForEach(secretNames, (name) => this.secret(name, deployment)),
      key: needs.some(({ key }) => key) ? this.key() : undefined,
      settings,
      logs: new AreaLogs(this, 'Logs', deployment.logRetentionDays),
      roles: new FunctionRoles(this, 'Roles'),
      site: Lazy.string({ produce: () => distribution.url }),
    };

    const made = (declaration: { readonly id: string }) => {
      const bundle = declared.bundles[declaration.id];
      if (!bundle) throw new Error(`${declaration.id} has not been built.`);
      return { bundle, resources };
    };
    const lambdas = new Map<string, Lambda>();
    for (const { worker, queue } of sources) {
      const props = { worker, queue, ...made(worker) };
      lambdas.set(worker.id, new QueueWorkerFunction(this, constructId(worker.id), props).lambda);
    }
    const scheduled = workers.filter(isScheduledWorker).map((worker) => {
      const { lambda } = new ScheduledWorkerFunction(this, constructId(worker.id), {
        worker,
        ...made(worker),
      });
      return { description: worker.description, lambda };
    });
    const functions = endpoints.map((endpoint) => {
      const isPoll = endpoint.id === getEvents.id;
      // Clients wait for events day and night: what they take must leave enough for those who send.
      const concurrency = isPoll ? deployment.pollConcurrency : undefined;
      const props = {
        endpoint: isPoll ? { ...endpoint, memory: deployment.pollMemory } : endpoint,
        concurrency,
        ...made(endpoint),
      };
      return new EndpointFunction(this, constructId(endpoint.id), props);
    });
    for (const { endpoint, lambda } of functions) lambdas.set(endpoint.id, lambda);

    const api = new RestApi(this, 'Api', functions, deployment.requestsPerSecond);
    const webFunctions = listeners.map((listener) => {
      const { requestsPerSecond } = deployment;
      return new ListenerFunction(this, constructId(listener.id), {
        listener,
        requestsPerSecond,
        ...made(listener),
      });
    });
    const acl = this.webAcl(api, deployment);
    const distribution: Distribution = new Distribution(this, 'Distribution', {
      api,
      listeners: webFunctions,
      images: resources.buckets.get(IMAGES),
      proof: acl?.proof,
      ...deployment,
    });
    this.takeMail(resources);
    this.watch(deployment, {
      table: resources.table,
      api,
      lambdas,
      work: sources.map(({ worker, queue }) => ({
        name: constructId(worker.queue.name),
        description: worker.description,
        queue,
      })),
      deadLetters,
      scheduled,
      pollConcurrency: deployment.pollConcurrency,
      listeners: webFunctions,
      webAcl: acl?.metricName,
    });
    this.tell(api, distribution, resources);
  }

  /** The web ACL before the API, if the operator limits rates. */
  private webAcl(api: RestApi, { addressLimit }: Deployment): WebAcl | undefined {
    if (addressLimit === undefined) {
      accept(api, {
        'AwsSolutions-APIG3':
          'A web ACL costs money while nobody talks, so it is there when rates are limited.',
      });
      return undefined;
    }
    const acl = new WebAcl(this, 'WebAcl', addressLimit);
    acl.protect(api.stage);
    return acl;
  }

  /** Traces, alarms and the page that shows them. */
  private watch({ alarmEmail }: Deployment, watched: Watched): void {
    new Tracing(this, 'Tracing', watched.api);
    const { all } = new Alarms(this, 'Alarms', watched, alarmEmail);
    new Overview(this, 'Overview', watched, all);
  }

  /** What the operator has to know, and the command that makes the first organization. */
  private tell(api: RestApi, { url, host }: Distribution, { table }: Resources): void {
    const outputs: Readonly<Record<string, readonly [value: string, description: string]>> = {
      BaseUrl: [url, 'Where clients find the service.'],
      ApiUrl: [`https://${api.host}/${api.stage.stageName}`, 'The same past CloudFront, without images.'],
      DistributionHost: [host, 'What a domain of your own must lead to (CNAME or alias).'],
      TableName: [table.tableName, 'The one table.'],
      NextCommand: [
        `npm run -s org -- create --name NAME --owner-email EMAIL --out owner.zuliprc --table ${table.tableName} --region ${this.region} --site ${url}`,
        'Makes the first organization and its owner, whose key goes to the file; put the name and the address in.',
      ],
    };
    for (const [name, [value, description]] of Object.entries(outputs)) {
      new CfnOutput(this, name, { value, description });
    }
  }

  /** Lets mail in, where the operator named a domain and a worker waits for it. */
  private takeMail({ settings, buckets, queues }: Resources): void {
    const [domain, bucket, queue] = [settings.get('MAIL_DOMAIN'), buckets.get(MAIL), queues.get(MAIL)];
    if (domain && bucket && queue) new MailIntake(this, 'MailIntake', { domain, bucket, queue });
  }

  private buckets(names: readonly string[], logRetentionDays: number): ReadonlyMap<string, PrivateBucket> {
    if (names.length === 0) return new Map();
    const accessLogs = new AccessLogs(this, 'AccessLogs', logRetentionDays);
    return oneForEach(names, (name) => {
      // A day longer than an archive is listed as available.
      const daysKept = name === EXPORTS ? DAYS_KEPT + 1 : undefined;
      return new PrivateBucket(this, `${constructId(name)}Bucket`, accessLogs, daysKept);
    });
  }

  /** A secret without a value: the operator sets it, and until then what needs it is not configured. */
  private secret(name: string, { secretNames }: Deployment): CfnSecret {
    const secret = new CfnSecret(this, `${constructId(name)}Secret`, {
      name: named('name of the secret', secretNames, name),
      description: `Parlance: ${name}`,
    });
    accept(secret, {
      'AwsSolutions-SMG4': 'Another service gave it to the operator, and only there it can be given anew.',
    });
    return secret;
  }

  /**
   * The key that seals what other services trust us with. What it sealed is lost with it, so it stays when the stack
   * goes; a key of a first deployment that failed sealed nothing, and would be paid for.
   */
  private key(): Key {
    return new Key(this, 'TokenKey', {
      description: 'Parlance: seals the tokens of other services at rest.',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }
}
