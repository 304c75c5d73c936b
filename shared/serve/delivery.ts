import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { badRequest } from '../kernel/errors.ts';
import type { Middleware } from './incoming.ts';

const compressed = promisify(gzip);

/** Text of this length is worth compressing; what is shorter travels in a few packets as it is. */
const WORTHWHILE = 8_192;

/** How hard to compress: little is gained by more, and a small function takes long for it. */
const LEVEL = 4;

/** Bytes that Lambda takes for a reply, as JSON. */
const LARGEST = 6 * 1024 * 1024;

/** How much longer text can become when it is put into JSON and UTF-8. */
const GROWTH = 3;

/** What a client says that it takes: its headers of these names. */
export interface Accepted {
  readonly types: string | undefined;
  readonly encodings: string | undefined;
}

/** Makes the reply ready for its way (`delivered`). */
const deliver: Middleware['after'] = async (request) => {
  const { event, response } = request;
  if (!response) return;
  const accepted = { types: event.header('accept'), encodings: event.header('accept-encoding') };
  request.response = await delivered(response, accepted);
};

export const compression: Middleware = { after: deliver, onError: deliver };

/**
 * Makes a reply ready for its way: large text goes compressed to clients that take it so, as the bytes that the gateway
 * hands on. It does that for clients whose first type of `Accept` is binary to it, which is every type
 * (`infra/gateway-body.ts`). Where a client names no type, nobody documents what the gateway does, so text stays text.
 *
 * Text that is larger than Lambda takes is compressed all the same, unless the client refuses gzip: a client that sends no
 * `Accept-Encoding` takes any coding (RFC 9110, 12.5.3). What is still too large is
 * `BAD_REQUEST`, which tells the client more than the gateway's 502 would.
 */
export async function delivered(
  reply: APIGatewayProxyResult,
  { types, encodings }: Accepted,
): Promise<APIGatewayProxyResult> {
  if (reply.isBase64Encoded || reply.body.length < WORTHWHILE) return reply;
  // Whoever keeps a copy must know that others may get another one.
  const headers = { ...reply.headers, Vary: 'Accept, Accept-Encoding' };
  const text = { ...reply, headers };
  const mayCompress = acceptsGzip(encodings);
  if (!(mayCompress && namesType(types)) && fits(text)) return text;
  if (!mayCompress && encodings !== undefined) throw tooLarge(false);
  const zipped = {
    ...reply,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: (await compressed(reply.body, { level: LEVEL })).toString('base64'),
    isBase64Encoded: true,
  };
  if (!fits(zipped)) throw tooLarge(true);
  return zipped;
}

/** Whether Lambda takes a reply. */
const fits = (reply: APIGatewayProxyResult): boolean =>
  reply.body.length * GROWTH < LARGEST || Buffer.byteLength(JSON.stringify(reply)) <= LARGEST;

const tooLarge = (isCompressed: boolean): Error =>
  badRequest(
    isCompressed
      ? 'The reply is too large to be sent; ask for less at once.'
      : "The reply is too large to be sent; ask for less at once, or let it be compressed ('Accept-Encoding: gzip').",
  );

/** Whether `Accept` begins with a type, or a range of them. */
const namesType = (accepted = ''): boolean => /^\s*[^\s/,;]+\/[^\s/,;]+\s*([,;]|$)/.test(accepted);

/** Whether a client takes gzip, and rather so than as it is (RFC 9110, 12.5.3). */
function acceptsGzip(accepted = ''): boolean {
  const weights = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((part): [string, number] => {
        const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [coding, weight === undefined ? 1 : Number(weight.slice(2))];
      }),
  );
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}
