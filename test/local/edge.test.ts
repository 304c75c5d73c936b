import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { edgeOf } from '../../infra/local/edge.ts';
import { proxyReply } from '../../infra/local/gateway-reply.ts';
import type { HttpRequest } from '../../infra/local/http-request.ts';
import type { RestApi } from '../../infra/local/template-api.ts';
import { delivered } from '../../shared/serve/reply.ts';
import { wholeStack } from '../support/whole-stack.ts';

const template = wholeStack({});
const { FunctionCode } = template.the<{ FunctionCode: string }>('AWS::CloudFront::Function').Properties;
const edge = edgeOf(FunctionCode);

const { Body } = template.the<{ Body: Record<string, readonly string[]> }>(
  'AWS::ApiGateway::RestApi',
).Properties;
const api = {
  binaryMediaTypes: Body['x-amazon-apigateway-binary-media-types'],
} as unknown as RestApi;

const requestWith = (headers: readonly (readonly [string, string])[]): HttpRequest => ({
  method: 'GET',
  path: '/api/v1/users',
  query: '',
  rawHeaders: headers.flat(),
  headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  httpVersion: '1.1',
  sourceIp: '203.0.113.7',
  body: Buffer.alloc(0),
});

describe('the edge in front of the gateway', () => {
  test('forwards the real host and address of the client, whatever headers the client sends', () => {
    const sent = requestWith([
      ['Host', 'chat.example.com:9991'],
      ['X-Forwarded-Host', 'other.example.com'],
      ['X-Kept', 'as it is'],
    ]);
    const { headers, rawHeaders } = edge(sent);
    expect(headers).toMatchObject({
      host: 'chat.example.com:9991',
      'x-forwarded-host': 'chat.example.com:9991',
      'x-viewer-address': '203.0.113.7',
      accept: '*/*',
    });
    expect(rawHeaders.slice(0, 4)).toEqual(['Host', 'chat.example.com:9991', 'X-Kept', 'as it is']);
    expect(rawHeaders.filter((text) => text.toLowerCase() === 'x-forwarded-host')).toHaveLength(1);
  });

  test('leaves a request without a host unchanged', () => {
    const sent = requestWith([['Accept', 'text/plain']]);
    expect(edge(sent)).toBe(sent);
  });
});

/** Text that compresses to more than what is sent as it is. */
const text = JSON.stringify({ result: 'success', words: randomBytes(20_000).toString('hex') });

describe.each([
  ["at API Gateway's own address", (request: HttpRequest) => request],
  ['through CloudFront', edge],
])('a large reply, %s', (_, before) => {
  test.each([undefined, '', 'nonsense', '*/*', 'application/json', 'text/html, */*;q=0.1'])(
    'can be read by a client whose Accept is %s',
    async (accept) => {
      const sent = before(
        requestWith([
          ['Host', 'chat.example.com'],
          ['Accept-Encoding', 'gzip'],
          ...(accept === undefined ? [] : [['Accept', accept] as const]),
        ]),
      );
      const types = sent.headers.accept?.toString();
      const answer = { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: text };
      const payload = JSON.stringify(await delivered(answer, { types, encodings: 'gzip' }));
      const { body, headers } = proxyReply(payload, types, api) ?? expect.fail('malformed');
      const isCompressed = headers.some(([name]) => name === 'Content-Encoding');
      expect((isCompressed ? gunzipSync(body) : body).toString()).toBe(text);
      expect(isCompressed).toBe(types?.includes('/') === true);
    },
  );
});
