import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** The services of AWS that functions call, under the names that their signatures carry. */
export type StoreName = 'dynamodb' | 'sqs' | 's3' | 'kms' | 'secretsmanager' | 'ses';

/** Why the door lets a call not through. */
export type Refusal = 'access denied' | 'unknown caller' | 'not signed' | 'not readable';

/** What most services that speak JSON say. */
const usual: Readonly<Record<Refusal, string>> = {
  'access denied': 'AccessDeniedException',
  'unknown caller': 'UnrecognizedClientException',
  'not signed': 'MissingAuthenticationTokenException',
  'not readable': 'SerializationException',
};

/** The codes by which each service tells a refusal. S3 and SQS have names of their own for some. */
const codes: Readonly<Record<StoreName, Readonly<Record<Refusal, string>>>> = {
  dynamodb: usual,
  kms: usual,
  secretsmanager: usual,
  ses: usual,
  sqs: {
    'access denied': 'AccessDeniedException',
    'unknown caller': 'InvalidClientTokenId',
    'not signed': 'MissingAuthenticationToken',
    'not readable': 'SerializationException',
  },
  s3: {
    'access denied': 'AccessDenied',
    'unknown caller': 'InvalidAccessKeyId',
    'not signed': 'AccessDenied',
    'not readable': 'InvalidRequest',
  },
};

/** Answers a call with an error in the form of its service: JSON with status 400, or S3's XML with 403. */
export function answerRefusal(
  outgoing: ServerResponse,
  store: StoreName,
  refusal: Refusal,
  message: string,
): void {
  const code = codes[store][refusal];
  const requestId = randomUUID();
  if (store === 's3') {
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message><RequestId>${requestId}</RequestId></Error>`;
    outgoing
      .writeHead(403, {
        'content-type': 'application/xml',
        'content-length': Buffer.byteLength(body),
        'x-amz-request-id': requestId,
      })
      .end(body);
    return;
  }
  // DynamoDB spells the member with a capital when its gate refuses, SQS does not; clients read both.
  const body = JSON.stringify({
    __type: `com.amazon.coral.service#${code}`,
    [store === 'dynamodb' ? 'Message' : 'message']: message,
  });
  outgoing
    .writeHead(400, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amzn-requestid': requestId,
    })
    .end(body);
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
