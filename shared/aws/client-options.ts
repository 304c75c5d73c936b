import type { Readable } from 'node:stream';
import type { Environment } from '../environment.ts';

/** A single try gives up after this long (ms); a stuck connection must not eat the whole function's time. */
const REQUEST_TIMEOUT = 2_000;
/** How much of that (ms) a connection may take to open. */
const CONNECTION_TIMEOUT = 1_000;
/** Tries in all, the first one included. */
const ATTEMPTS = 3;

/**
 * The variable by which the local cloud gives a try longer (ms). There, clients, functions and stores share a few
 * processors, so another try would only add to the work. Not set on AWS.
 */
export const SERVICE_TIMEOUT = 'SERVICE_TIMEOUT_MS';

const silent = (): void => {};

/**
 * A logger that does nothing, like that of the clients, but has no `info`: for that they copy each input and output, an
 * eighth of the processor time of a fetch.
 */
const logger = { trace: silent, debug: silent, warn: silent, error: silent };

/**
 * Reads all bytes of a reply. The SDK pipes it into a stream of its own instead. Then each reply, with all that was made of
 * it, stays in memory until the next full garbage collection.
 */
const streamCollector = (body: Readable): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    body.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    body.once('end', () => resolve(Buffer.concat(chunks)));
    body.once('error', reject);
    body.once('close', () => reject(new Error('The reply was broken off.')));
  });

/**
 * What every client of AWS is made with: where the service is, from the environment that Lambda (or the local cloud)
 * gives, and limits well under those of a function.
 *
 * @throws Error when `SERVICE_TIMEOUT_MS` is set and not a whole number from 1 to 999999.
 */
export const clientOptions = (
  environment: Environment,
  service: 'DYNAMODB' | 'S3' | 'SQS' | 'KMS' | 'SECRETS_MANAGER',
) => {
  const endpoint = environment[`AWS_ENDPOINT_URL_${service}`];
  const given = timeoutGivenBy(environment);
  return {
    ...(endpoint !== undefined && { endpoint }),
    region: environment.AWS_REGION ?? 'us-east-1',
    maxAttempts: ATTEMPTS,
    logger: logger as never,
    streamCollector,
    requestHandler: {
      connectionTimeout: given ?? CONNECTION_TIMEOUT,
      requestTimeout: given ?? REQUEST_TIMEOUT,
      // Without it the handler only warns.
      throwOnRequestTimeout: true,
      // For a reply that begins and then stops.
      socketTimeout: given ?? REQUEST_TIMEOUT,
    },
  };
};

function timeoutGivenBy(environment: Environment): number | undefined {
  const text = environment[SERVICE_TIMEOUT];
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new Error(`${SERVICE_TIMEOUT} must be a whole number from 1 to 999999, and not "${text}".`);
  }
  return Number(text);
}
