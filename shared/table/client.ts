import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Send } from './table.ts';

/** A single try gives up after this long (ms); a stuck connection must not eat the whole function's time. */
const REQUEST_TIMEOUT = 2_000;
/** Tries in all, the first one included. Commits retry by themselves with the same token, so few are enough. */
const ATTEMPTS = 3;

/**
 * The document client of a container, made once at module scope. Reads its place and credentials from the
 * environment that Lambda (or the local cloud) gives; the credential chain is left out of the bundle.
 */
export function documentClient(environment: Readonly<Record<string, string | undefined>>): Send {
  const endpoint = environment.AWS_ENDPOINT_URL_DYNAMODB;
  const client = new DynamoDBClient({
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
  });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return (command) => document.send(command as Parameters<typeof document.send>[0]);
}
