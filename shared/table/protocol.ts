import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { jsonProtocolOf } from '../aws/json-protocol.ts';

/** How the client speaks with DynamoDB, in place of its own way (`shared/aws/json-protocol.ts`). */
export const jsonProtocol = jsonProtocolOf({
  target: 'DynamoDB_20120810',
  Exception: DynamoDBServiceException,
  retryable: 'ReplicatedWriteConflictException',
  revive: readBytes,
});

/**
 * Turns base64 back into bytes, in place. Only in an attribute's value there is text under `B`, or a list under `BS`:
 * under an attribute of such a name there is an object.
 */
function readBytes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(fields)) {
    if (name === 'B' && typeof field === 'string') fields.B = fromBase64(field);
    else if (name === 'BS' && Array.isArray(field)) fields.BS = field.map(fromBase64);
    else readBytes(field);
  }
}

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
