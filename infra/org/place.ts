import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outside } from '../../shared/kernel/outside.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { type Configuration, readConfiguration } from '../local/configuration.ts';
import { DirectoryInUse, openDataDirectory } from '../local/data-directory.ts';
import { startDynamoStore } from '../local/dynamo-store.ts';
import { findService, type ServicePlace } from '../local/service-file.ts';
import { StartProblem } from '../local/start-problem.ts';
import { UsageProblem, type Wanted } from './arguments.ts';

/** A service, deployed or on this machine, as its operator reaches it: past the gateway, at the table. */
export interface ReachedService {
  readonly outside: Outside;
  /** The address that clients of the default organization use; absent if it was not requested. */
  readonly site: URL | undefined;
  readonly isLocal: boolean;
  /** Stops everything that was started. */
  close(): Promise<void>;
}

/** Milliseconds to wait for a service that is just about to start or to end. */
const patience = 10_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reaches the service that the options name.
 *
 * @throws UsageProblem when the region is not known.
 * @throws StartProblem if there is no service on this machine, or its store cannot be started.
 */
export const reachService = (
  given: Wanted['given'],
  environment: Environment,
): Promise<ReachedService> | ReachedService =>
  given.table === undefined
    ? reachLocal(readConfiguration(environment))
    : reachDeployed(given.table, given, environment);

function reachDeployed(
  table: string,
  { region, site }: Wanted['given'],
  environment: Environment,
): ReachedService {
  const place = region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (!place) throw new UsageProblem('--table needs --region REGION, or AWS_REGION in the environment.');
  return {
    outside: outsideAt({ ...environment, TABLE_NAME: table, AWS_REGION: place }),
    site: site === undefined ? undefined : new URL(site),
    isLocal: false,
    close: async () => {},
  };
}

/**
 * The store of a service that runs is reached beside it. Where none runs, the folder is taken as `npm start` would do, and
 * the store is started on it for a moment.
 */
async function reachLocal(configuration: Configuration): Promise<ReachedService> {
  // Credentials that fit no account, so that nothing here can ever reach a real one.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) delete process.env[name];
  const { dataDirectory } = configuration;
  if (!existsSync(dataDirectory)) throw notStarted(dataDirectory);
  const end = Date.now() + patience;
  for (;;) {
    const stopped = await reachStopped(configuration);
    if (stopped) return stopped;
    const service = findService(dataDirectory);
    if (service && (await answers(service.dynamodb)))
      return localService(service, service.dynamodb, async () => {});
    if (Date.now() > end) {
      throw new StartProblem(
        `Something else has DATA_DIR ${dataDirectory}, and is no service that is ready: try again.`,
      );
    }
    await sleep(100);
  }
}

/** Starts the store of a service that does not run; nothing if it does. */
async function reachStopped(configuration: Configuration): Promise<ReachedService | undefined> {
  const directory = takeDirectory(configuration.dataDirectory);
  if (!directory) return undefined;
  try {
    const service = findService(directory.path);
    if (!service) throw notStarted(directory.path);
    const file = join(directory.path, 'dynamodb.sqlite');
    const store = await startDynamoStore(file, configuration.dynamodbEndpoint);
    return localService(service, store.endpoint, async () => {
      await store.stop();
      directory.release();
    });
  } catch (error) {
    directory.release();
    throw error;
  }
}

function takeDirectory(path: string): ReturnType<typeof openDataDirectory> | undefined {
  try {
    return openDataDirectory(path, 0);
  } catch (error) {
    if (error instanceof DirectoryInUse) return undefined;
    throw error;
  }
}

const notStarted = (dataDirectory: string): StartProblem =>
  new StartProblem(
    `There is no service in DATA_DIR ${dataDirectory} yet: run npm start once, or name a deployed one with --table.`,
  );

const localService = (
  { site, region, table }: ServicePlace,
  dynamodb: URL,
  close: () => Promise<void>,
): ReachedService => ({
  outside: outsideAt({ TABLE_NAME: table, AWS_REGION: region, AWS_ENDPOINT_URL_DYNAMODB: dynamodb.origin }),
  site,
  isLocal: true,
  close,
});

/** The standard output is for results, so what a function would log goes elsewhere. */
const outsideAt = (environment: Environment): Outside => ({
  ...makeOutside(environment),
  report: (line) => console.error(JSON.stringify(line)),
  count: () => {},
});

const answers = (address: URL): Promise<boolean> =>
  fetch(address, { signal: AbortSignal.timeout(1000) })
    .then((reply) => reply.arrayBuffer())
    .then(
      () => true,
      () => false,
    );
