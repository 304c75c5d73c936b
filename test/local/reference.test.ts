import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reference, referencePaths } from '../../infra/local/reference.ts';
import { discard, type SampleCloud, startSampleCloud } from './sample-cloud.ts';
import { mockOperation } from './sample-template.ts';

const notFound = '{"says":"no such address"}';
const everyAddress = { 'x-amazon-apigateway-any-method': mockOperation(404, notFound) };

let cloud: SampleCloud;

beforeAll(async () => {
  cloud = await startSampleCloud(
    {
      functions: { echo: { code: 'echo', routes: ['GET /things', 'GET /reference/page.css'] } },
      paths: { '/': everyAddress, '/{proxy+}': everyAddress },
    },
    undefined,
    reference,
  );
});

afterAll(() => discard(cloud));

const call = (path: string, init?: RequestInit) => fetch(new URL(path, cloud.address), init);

/** Asks for a path as it is written, which `fetch` would tidy up first. */
const asWritten = (path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = cloud.address;
    request({ hostname, port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });

/** All but what the API of this test has for itself. */
const own = referencePaths.filter((path) => path !== '/reference/page.css');

describe('the reference page', () => {
  test('is at the root, and asks for nothing but what is here', async () => {
    const page = await (await call('/')).text();
    const addresses = [...page.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.sort()).toEqual(
      [...referencePaths.filter((path) => path !== '/'), '/api/v1/openapi.json'].sort(),
    );
    // Nothing that the policy would forbid: every script and style is a file.
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! src="\/reference\/[\w.-]+"><\/script>)/i);
  });

  test.each(referencePaths)('%s names no other host that a browser would ask', async (path) => {
    const { body = Buffer.alloc(0) } = (await reference(get(path))) ?? {};
    if (path.endsWith('.png')) return expect(body.subarray(1, 4).toString()).toBe('PNG');
    const text = body.toString();
    // The renderer has addresses in its code: names of vocabularies, and a validator that the page turns off.
    if (path.includes('bundle')) return expect(text).toContain('SwaggerUIBundle');
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|["'(]\/\//);
    for (const [, address = ''] of text.matchAll(/url\(["']?([^"')]*)/g)) expect(address).toMatch(/^data:/);
    expect(text).not.toContain('@import');
    if (path.endsWith('page.js')) expect(text).toContain('validatorUrl: null');
  });

  test.each(own)('%s comes with its type and a policy of this service only', async (path) => {
    const answer = await call(path);
    expect(answer.status).toBe(200);
    const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', png: 'image/png' };
    expect(answer.headers.get('content-type')).toMatch(types[path.split('.').at(-1) ?? ''] ?? 'text/html');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const policy = answer.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy[0]).toBe("default-src 'none'");
    for (const directive of policy) {
      expect(directive).toMatch(/^[a-z-]+ ('none'|'self'( data: blob:)?)$/);
      if (directive.includes('data:')) expect(directive).toMatch(/^img-src /);
    }
    const bytes = await answer.arrayBuffer();
    expect(answer.headers.get('content-length')).toBe(String(bytes.byteLength));

    const head = await call(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(bytes.byteLength));

    const again = await call(path, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await call(path, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
    await other.arrayBuffer();
  });

  test.each(own)('%s takes no other method', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await call(path, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(await answer.json()).toEqual({
        result: 'error',
        msg: 'This method is not allowed here.',
        code: 'METHOD_NOT_ALLOWED',
        allowed_methods: ['GET', 'HEAD'],
      });
    }
    const options = await call(path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD']);
  });

  test.each([
    '/reference',
    '/reference/',
    '/reference/page.html',
    '/reference/package.json',
    '/reference/swagger-ui-bundle.js.map',
    '/reference/../package.json',
    '/reference/%2e%2e/package.json',
    '/reference/..%2fpackage.json',
    '/reference/../../../../etc/passwd',
    '/reference/page.js%00',
    '/reference/constructor',
    '/index.html',
  ])('has no %s', async (path) => {
    expect(await asWritten(path)).toBe(404);
  });

  test('never stands before the API', async () => {
    const answer = await call('/reference/page.css');
    expect(await answer.json()).toMatchObject({ event: { path: '/reference/page.css' } });
    expect((await call('/things')).headers.get('content-security-policy')).toBeNull();
    expect((await call('/?things=%zz')).status).toBe(400);
  });
});

const get = (path: string) => ({
  method: 'GET',
  path,
  query: '',
  rawHeaders: [],
  headers: {},
  httpVersion: '1.1',
  sourceIp: '127.0.0.1',
  body: Buffer.alloc(0),
});
