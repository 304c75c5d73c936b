import type { Environment } from '../domain/environment.ts';

/** A single try gives up after this long (ms); a stuck connection must not eat the whole function's time. */
const REQUEST_TIMEOUT = 2_000;
/** Tries in all, the first one included. */
const ATTEMPTS = 3;

/**
 * What every client of AWS is made with: where the service is, from the environment that Lambda (or the local cloud)
 * gives, and limits well under those of a function.
 */
export const clientOptions = (
  environment: Environment,
  service: 'DYNAMODB' | 'S3' | 'SQS' | 'KMS' | 'SECRETS_MANAGER',
) => {
  const endpoint = environment[`AWS_ENDPOINT_URL_${service}`];
  return {
    ...(endpoint !== undefined && { endpoint }),
    region: environment.AWS_REGION ?? 'us-east-1',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: REQUEST_TIMEOUT,
      // Without it the handler only warns.
      throwOnRequestTimeout: true,
      // For a reply that begins and then stops.
      socketTimeout: REQUEST_TIMEOUT,
    },
  };
};
