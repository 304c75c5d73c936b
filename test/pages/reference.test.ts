import { describe, expect, it } from 'vitest';
import { handler as getReferenceFile } from '../../functions/pages/getReferenceFile.ts';
import { handler as showReference } from '../../functions/pages/showReference.ts';
import { referenceFiles, referencePage } from '../../shared/openapi/reference.ts';
import { newRealm } from '../support/realm.ts';

const { outside, host } = await newRealm();

type Event = Parameters<ReturnType<typeof showReference.with>>[0];

const getFile = (file: string, headers: Readonly<Record<string, string>> = {}) =>
  getReferenceFile.with(outside)({
    headers: { host, accept: '*/*', ...headers },
    body: null,
    pathParameters: { file: encodeURIComponent(file) },
  } as unknown as Event);

describe('the reference page', () => {
  it('loads nothing from other hosts', async () => {
    const { statusCode, headers, body } = await showReference.with(outside)({
      headers: { host },
      body: null,
    } as unknown as Event);
    expect([statusCode, body]).toEqual([200, referencePage('')]);
    expect(headers?.['Content-Type']).toBe('text/html; charset=utf-8');
    const policy = String(headers?.['Content-Security-Policy']).split('; ');
    expect(policy[0]).toBe("default-src 'none'");
    for (const directive of policy) expect(directive).toMatch(/^[a-z-]+ ('none'|'self'( data: blob:)?)$/);
    const addresses = [...body.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.sort()).toEqual(
      [...referenceFiles.map((name) => `/api/reference/${name}`), '/api/v1/openapi.json'].sort(),
    );
    // Nothing that the policy would forbid: every script and style is a file.
    expect(body).not.toMatch(
      /<style|\sstyle=|\son\w+=|<script(?! src="\/api\/reference\/[\w.-]+"><\/script>)/i,
    );
  });

  it('is below the name of the stage at the bare address of the gateway', async () => {
    const requestContext = { stage: 'prod', path: '/prod/api', domainName: host };
    const { body } = await showReference.with(outside)({
      headers: { host },
      body: null,
      requestContext,
    } as unknown as Event);
    const addresses = [...body.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '');
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) expect(address).toMatch(/^\/prod\/api\//);
    const script = Buffer.from((await getFile('page.js')).body).toString();
    expect(script).not.toMatch(/['"`]\/api/);
  });

  it.each(referenceFiles)('serves %s with its type, and without other hosts', async (file) => {
    const { statusCode, headers, body, isBase64Encoded } = await getFile(file);
    expect(statusCode).toBe(200);
    const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', png: 'image/png' };
    expect(headers?.['Content-Type']).toContain(types[file.split('.').at(-1) ?? '']);
    expect(headers?.['X-Content-Type-Options']).toBe('nosniff');
    if (file.endsWith('.png')) {
      expect(isBase64Encoded).toBe(true);
      return expect(Buffer.from(body, 'base64').subarray(1, 4).toString()).toBe('PNG');
    }
    // The renderer has addresses in its code: names of vocabularies, and a validator that the page turns off.
    if (file.includes('bundle')) return expect(body).toContain('SwaggerUIBundle');
    expect(body.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|["'(]\/\//);
    expect(body).not.toContain('@import');
    if (file === 'page.js') expect(body).toContain('validatorUrl: null');
  });

  it('is compressed for browsers', async () => {
    const { headers, isBase64Encoded, body } = await getFile('swagger-ui-bundle.js', {
      'accept-encoding': 'gzip, br',
    });
    expect([headers?.['Content-Encoding'], isBase64Encoded]).toEqual(['gzip', true]);
    expect(body.length).toBeLessThan(1_000_000);
  });

  it.each([
    'page.html',
    'package.json',
    '../package.json',
    '../reference.ts',
    'page.js\0',
    'constructor',
    '',
  ])('has no file %j', async (file) => {
    expect((await getFile(file)).statusCode).toBeGreaterThanOrEqual(400);
  });
});
