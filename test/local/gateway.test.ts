import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { options, wrongMethod } from '../../infra/gateway-replies.ts';
import { discard, type SampleCloud, startSampleCloud } from './sample-cloud.ts';
import { mockOperation } from './sample-template.ts';

const notFound = '{"says":"no such address"}';
const tooLarge = '{"says":"too large"}';
const clientError = '{"says":"the request is not good"}';
const serverError = '{"says":"the server is not well"}';

const response = (body: string, statusCode?: number, headers: Record<string, string> = {}) => ({
  ...(statusCode === undefined ? {} : { statusCode }),
  responseTemplates: { 'application/json': body },
  responseParameters: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, `'${value}'`]),
  ),
});

let cloud: SampleCloud;

beforeAll(async () => {
  cloud = await startSampleCloud({
    functions: {
      echo: {
        code: 'echo',
        routes: [
          'GET /things',
          'POST /things',
          'PATCH /things/{thing}',
          'GET /things/special',
          'GET /things/{thing}/parts/{part}',
          'ANY /files/{rest+}',
        ],
      },
      unruly: { code: 'unruly', routes: ['GET /unruly', 'HEAD /unruly'], timeout: 1 },
      barred: { code: 'echo', routes: ['GET /barred'] },
      broken: { code: 'broken', routes: ['GET /broken'] },
    },
    paths: {
      '/things': {
        options: mockOperation(204, undefined, { Allow: 'GET, POST' }),
        'x-amazon-apigateway-any-method': mockOperation(405, '{"says":"wrong method"}', {
          Allow: 'GET, POST',
        }),
      },
      '/numbers/{number}': {
        options: options(['GET', 'HEAD']),
        'x-amazon-apigateway-any-method': wrongMethod(['GET', 'HEAD'], ['number']),
      },
      '/{proxy+}': { 'x-amazon-apigateway-any-method': mockOperation(404, notFound) },
    },
    binaryMediaTypes: ['multipart/form-data', 'image/*'],
    gatewayResponses: {
      DEFAULT_4XX: response(clientError),
      DEFAULT_5XX: response(serverError),
      MISSING_AUTHENTICATION_TOKEN: response(notFound, 404, { 'X-Hint': 'look again' }),
      REQUEST_TOO_LARGE: response(tooLarge, 413),
      UNSUPPORTED_MEDIA_TYPE: response('{"says":"type"}', 415),
    },
    barred: ['barred'],
  });
});

afterAll(() => discard(cloud));

const call = (path: string, init?: RequestInit) => fetch(new URL(path, cloud.address), init);

async function eventOf(path: string, init?: RequestInit): Promise<APIGatewayProxyEvent> {
  const answer = await call(path, init);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { event: APIGatewayProxyEvent }).event;
}

/** Sends bytes as they are and returns all that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(Number(cloud.address.port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

describe('the event of a request', () => {
  test('has the path, its variables as they were sent, and the resource', async () => {
    const event = await eventOf('/things/a%40b.c%2Fd/parts/%25');
    expect(event).toMatchObject({
      resource: '/things/{thing}/parts/{part}',
      path: '/things/a%40b.c%2Fd/parts/%25',
      httpMethod: 'GET',
      pathParameters: { thing: 'a%40b.c%2Fd', part: '%25' },
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
    });
  });

  test('has the query decoded, once with the last value of each name and once with all', async () => {
    const event = await eventOf('/things?a=1&b=x+y%26z&a=2&empty=&bare&a%5B%5D=%C3%A9');
    expect(event.queryStringParameters).toEqual({ a: '2', b: 'x y&z', empty: '', bare: '', 'a[]': 'é' });
    expect(event.multiValueQueryStringParameters).toEqual({
      a: ['1', '2'],
      b: ['x y&z'],
      empty: [''],
      bare: [''],
      'a[]': ['é'],
    });
  });

  test('has null for missing parts', async () => {
    const event = await eventOf('/things');
    expect(event.queryStringParameters).toBeNull();
    expect(event.multiValueQueryStringParameters).toBeNull();
    expect(event.pathParameters).toBeNull();
  });

  test('has headers as they were sent, without those of the connection, and with those of the gateway', async () => {
    const answer = await raw(
      'GET /things HTTP/1.1\r\nHost: chat.example:81\r\nauthorization: Basic x\r\nX-Mixed: 1\r\nx-mixed: 2\r\n' +
        'X-Forwarded-For: 10.0.0.9\r\nTE: trailers\r\nConnection: close\r\n\r\n',
    );
    const { event } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { event: APIGatewayProxyEvent };
    expect(event.headers).toEqual({
      Host: 'chat.example:81',
      Authorization: 'Basic x',
      'X-Mixed': '2',
      'X-Forwarded-For': '10.0.0.9, 127.0.0.1',
      'X-Forwarded-Port': '81',
      'X-Forwarded-Proto': 'http',
      'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
    });
    expect(event.multiValueHeaders['X-Mixed']).toEqual(['1', '2']);
    expect(event.requestContext.domainName).toBe('chat.example');
  });

  test('has a request context', async () => {
    const before = Date.now();
    const { requestContext } = await eventOf('/things/special', { headers: { 'user-agent': 'probe/1' } });
    expect(requestContext).toMatchObject({
      accountId: '000000000000',
      apiId: 'api',
      stage: 'prod',
      resourcePath: '/things/special',
      path: '/things/special',
      httpMethod: 'GET',
      protocol: 'HTTP/1.1',
      domainName: '127.0.0.1',
      identity: { sourceIp: '127.0.0.1', userAgent: 'probe/1', user: null },
    });
    expect(requestContext.requestTimeEpoch).toBeGreaterThanOrEqual(before);
    expect(requestContext.requestTime).toMatch(/^\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000$/);
    expect(requestContext.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(requestContext.extendedRequestId).toMatch(/=$/);
  });

  test('has a text body as it is, and base64 for the binary types of the API', async () => {
    const text = await eventOf('/things', {
      method: 'POST',
      body: 'naïve=☃',
      headers: { 'content-type': 'text/plain' },
    });
    expect([text.body, text.isBase64Encoded]).toEqual(['naïve=☃', false]);
    const bytes = new Uint8Array([0, 255, 13]);
    const image = await eventOf('/things', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'image/png' },
    });
    expect([image.body, image.isBase64Encoded]).toEqual([Buffer.from(bytes).toString('base64'), true]);
    const form = new FormData();
    form.set('name', 'value');
    const multipart = await eventOf('/things/x', { method: 'PATCH', body: form });
    expect(multipart.isBase64Encoded).toBe(true);
    expect(Buffer.from(multipart.body ?? '', 'base64').toString()).toContain('name="name"');
  });
});

describe('routes', () => {
  test('prefer a literal to a variable, and a variable to one that matches the rest', async () => {
    expect((await eventOf('/things/special')).resource).toBe('/things/special');
    expect((await eventOf('/things/special/parts/1')).resource).toBe('/things/{thing}/parts/{part}');
    expect((await eventOf('/files/a/b%20c/d')).pathParameters).toEqual({ rest: 'a/b%20c/d' });
    expect(await (await call('/files')).text()).toBe(notFound);
  });

  test('ignore slashes at the end', async () => {
    expect((await eventOf('/things/')).path).toBe('/things/');
  });

  test('answer other methods and OPTIONS with the replies of the API definition', async () => {
    const wrong = await call('/things', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow'), await wrong.text()]).toEqual([
      405,
      'GET, POST',
      '{"says":"wrong method"}',
    ]);
    const options = await call('/things', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([
      204,
      'GET, POST',
      '',
    ]);
    const exotic = await call('/things', {
      method: 'PUT',
      body: 'x',
      headers: { 'content-type': 'text/exotic' },
    });
    expect([exotic.status, await exotic.text()]).toEqual([415, '{"says":"type"}']);
  });

  test('answer other methods like an unknown path if the ID is not one', async () => {
    for (const [path, method, status] of [
      ['/numbers/12', 'PUT', 405],
      ['/numbers/12', 'OPTIONS', 204],
      ['/numbers/-1', 'PUT', 404],
      ['/numbers/1.5', 'PUT', 404],
    ] as const) {
      const answer = await call(path, { method });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('allow')).toBe(status === 404 ? null : 'GET, HEAD');
      await answer.arrayBuffer();
    }
  });

  test('answer HEAD without a body, if the path has it', async () => {
    expect((await call('/unruly', { method: 'HEAD' })).status).toBe(200);
    const head = await call('/things', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([405, '']);
  });

  test('that do not exist return the gateway response, with its headers', async () => {
    const answer = await call('/', { method: 'POST' });
    expect([answer.status, await answer.text()]).toEqual([404, notFound]);
    expect(answer.headers.get('x-hint')).toBe('look again');
  });

  test('need a role that may invoke their function', async () => {
    const answer = await call('/barred');
    expect([answer.status, await answer.text()]).toEqual([500, serverError]);
  });
});

describe('invalid requests', () => {
  test.each(['/things?a=%zz', '/things?a=%ff', '/things/%E0%A4%A', '/things/%c3/parts/1'])(
    'return their gateway response: %s',
    async (path) => {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answer.endsWith(clientError)).toBe(true);
    },
  );

  test.each([
    'nonsense\r\n\r\n',
    'GET /things HTTP/1.1\r\nbad header\r\n\r\n',
    'GET /things HTTP/9.9\r\n\r\n',
  ])('that are not HTTP are refused: %j', async (bytes) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer.endsWith(clientError)).toBe(true);
  });

  test('whose headers are too long are refused', async () => {
    const answer = await raw(`GET /things HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer.endsWith(clientError)).toBe(true);
  });

  test('without a host are answered under HTTP/1.0', async () => {
    expect(await raw('GET /things HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('of one byte more than 10 MB are too large, with a Content-Length or without', async () => {
    const limit = 10 * 1024 * 1024;
    const answer = await call('/things', { method: 'POST', body: new Uint8Array(limit + 1) });
    expect([answer.status, await answer.text()]).toEqual([413, tooLarge]);
    let left = limit + 1;
    const body = new ReadableStream({
      pull: (controller) => {
        const chunk = new Uint8Array(Math.min(left, 64 * 1024));
        left -= chunk.length;
        if (chunk.length > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const streamed = await call('/things', { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect([streamed.status, await streamed.text()]).toEqual([413, tooLarge]);
  });

  test('whose event exceeds the limit of Lambda are too large', async () => {
    const answer = await call('/things', { method: 'POST', body: 'x'.repeat(6 * 1024 * 1024) });
    expect([answer.status, await answer.text()]).toEqual([413, tooLarge]);
  });

  test('that are cut short do no harm', async () => {
    const socket = connect(Number(cloud.address.port), '127.0.0.1');
    socket.write('POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await sleep(20);
    socket.destroy();
    const slow = request(new URL('/things', cloud.address), {
      method: 'POST',
      headers: { 'content-length': '4' },
    });
    slow.write('sl');
    setTimeout(() => slow.end('ow'), 50);
    const [answer] = await once(slow, 'response');
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });
});

describe('the reply of a function', () => {
  const unruly = (way: string, headers?: Record<string, string>) =>
    call(`/unruly?do=${way}`, headers ? { headers } : {});

  test('has its status and headers, and those of the gateway', async () => {
    const answer = await unruly('headers');
    expect(await answer.text()).toBe('text');
    expect(answer.headers.get('x-both')).toBe('a, b');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('x-flag')).toBe('true');
    expect(answer.headers.get('server')).toBeNull();
    expect(answer.headers.get('x-amzn-remapped-server')).toBe('mine');
    expect(answer.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    const made = await unruly('textStatus');
    expect([made.status, made.headers.get('content-type')]).toEqual([201, 'application/json']);
  });

  test('is decoded from base64 only for clients that accept a binary type first', async () => {
    const asked = await unruly('binary', { accept: 'image/png, text/plain' });
    expect(new Uint8Array(await asked.arrayBuffer())).toEqual(new Uint8Array([0, 255, 128]));
    expect(await (await unruly('binary', { accept: 'text/plain' })).text()).toBe('AP+A');
  });

  test('stays base64 for clients without an Accept header, since the behaviour of API Gateway is undocumented', async () => {
    const head = 'GET /unruly?do=binary HTTP/1.1\r\nHost: chat.example\r\nConnection: close\r\n';
    for (const accept of ['', 'Accept:\r\n', 'Accept: bytes\r\n']) {
      expect((await raw(`${head}${accept}\r\n`)).split('\r\n\r\n')[1], accept).toBe('AP+A');
    }
  });

  test.each([
    'throw',
    'reject',
    'stray',
    'exit',
    'hang',
    'spin',
    'nothing',
    'unknownMember',
    'strangeStatus',
    'numberHeader',
    'brokenHeader',
    'circular',
    'large',
    'memory',
  ])('is a 502 of the API definition if it is malformed: %s', async (way) => {
    const answer = await unruly(way);
    expect([answer.status, await answer.text()]).toEqual([502, serverError]);
    expect((await unruly('textStatus')).status).toBe(201);
  });

  test('is a 502 if the function does not load', async () => {
    expect((await call('/broken')).status).toBe(502);
    expect(
      cloud.lines.filter((line) => line.startsWith('broken failed: RangeError: broken while loading')),
    ).toHaveLength(1);
  });
});
