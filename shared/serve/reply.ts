import type { APIGatewayProxyResult } from 'aws-lambda';
import { Refusal } from '../domain/problems.ts';

/** The challenge that clients of the reference expect with every 401 (wire facts 1.3). */
const CHALLENGE = 'Basic realm="zulip"';

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' };

/** A successful reply in the envelope (specification 2.1). */
export const success = (fields: object, ignored: readonly string[]): APIGatewayProxyResult => ({
  statusCode: 200,
  headers: HEADERS,
  body: JSON.stringify({
    result: 'success',
    msg: '',
    ...fields,
    ...(ignored.length > 0 && { ignored_parameters_unsupported: ignored }),
  }),
});

/** A planned refusal in the envelope; anything else is a 500 that says nothing. */
export function failure(error: unknown): APIGatewayProxyResult {
  if (!(error instanceof Refusal)) {
    return envelope(500, {
      msg: 'Something went wrong here; it has been reported.',
      code: 'INTERNAL_SERVER_ERROR',
    });
  }
  return envelope(error.status, { msg: error.message, code: error.code, ...error.fields });
}

const envelope = (statusCode: number, fields: object): APIGatewayProxyResult => ({
  statusCode,
  headers: statusCode === 401 ? { ...HEADERS, 'WWW-Authenticate': CHALLENGE } : HEADERS,
  body: JSON.stringify({ result: 'error', ...fields }),
});
