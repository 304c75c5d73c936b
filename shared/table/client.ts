import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../aws/client-options.ts';
import { jsonProtocol } from './protocol.ts';
import type { Send } from './table.ts';

/**
 * The document client of a container, made once at module scope. Reads its place and credentials from the
 * environment that Lambda (or the local cloud) gives; the credential chain is left out of the bundle.
 */
export function documentClient(environment: Readonly<Record<string, string | undefined>>): Send {
  const client = new DynamoDBClient({ ...clientOptions(environment, 'DYNAMODB'), protocol: jsonProtocol });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return (command) => document.send(command as Parameters<typeof document.send>[0]);
}
