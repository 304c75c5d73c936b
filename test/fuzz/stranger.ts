import { randomUUID } from 'node:crypto';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { exampleOf } from '../../shared/openapi/examples.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { basic } from '../support/raw-request.ts';
import { onlyDeclared, type TestRealm } from '../support/realm.ts';

/** A body that is made to cost much, as the gateway hands it over. */
export interface Hostile {
  readonly contentType: string;
  readonly body: Buffer;
  readonly path: Readonly<Record<string, string>>;
}

const FORM = 'application/x-www-form-urlencoded';

/** Values that cost much to parse, to check or to look up, as long as they are allowed to be (characters). */
const hostileValues: Readonly<Record<string, (length: number) => string>> = {
  'many names': (length) => list(length, (n) => `"n${n}"`),
  'many addresses': (length) => list(length, (n) => `"n${n}@example.com"`),
  'addresses as text': (length) => repeated(length, (n) => `n${n}@a.b,`),
  'names for one batch': () => list(265, (n) => `"n${n}"`),
  'names in a text for one batch': () => repeated(200, (n) => `@**n${n}** `) + repeated(95, (n) => `:n${n}:`),
  'objects for one batch': () => list(650, (n) => `{"name":"n${n}"}`),
  'many numbers': (length) => list(length, (n) => `${n}`),
  'the same number': (length) => list(length, () => '0'),
  'many objects': (length) => list(length, (n) => `{"name":"n${n}"}`),
  'many values of profiles': (length) => list(length, (n) => `{"id":${n},"value":"@**n${n}**"}`),
  'many terms': (length) => list(length, (n) => `["channel","n${n}"]`),
  'many keys': (length) => `{${repeated(length - 20, (n) => `"k${n}":1,`)}"k":1}`,
  'many keys of objects': (length) =>
    `{${repeated(length - 60, (n) => `"k${n}":{"text":"t${n}","order":"${n}"},`)}"k":{"text":"t","order":"1"}}`,
  'many names in a text': (length) => repeated(length, (n) => `@**n${n}** @*n${n}* #**n${n}** :n${n}: `),
  'many names in a list of texts': (length) =>
    JSON.stringify([repeated(length - 9, (n) => `:n${n}:@**n${n}**`)]),
  'marks without names': (length) => repeated(length, () => '@**#**:@*'),
  'deep lists': (length) => '['.repeat(length),
  'deep objects': (length) => '{"a":'.repeat(length / 5),
  'a long text': (length) => 'a'.repeat(length),
  'a long text in quotes': (length) => JSON.stringify('a'.repeat(length - 2)),
  'escapes in quotes': (length) => `"${'\\u0041'.repeat((length - 2) / 6)}"`,
  blanks: (length) => ' '.repeat(length),
  'blanks before a letter': (length) => `${' '.repeat(length - 1)}x`,
  'letters of other alphabets': (length) => 'ŉ'.repeat(length),
  dots: (length) => 'a.'.repeat(length / 2),
  backslashes: (length) => '\\|'.repeat(length / 2),
};

/** `part(0) + part(1) + …` until the text is as long as it may be. */
function repeated(length: number, part: (n: number) => string): string {
  const parts: string[] = [];
  for (let [n, size] = [0, 0]; ; n++) {
    const next = part(n);
    size += next.length;
    if (size > length) return parts.join('');
    parts.push(next);
  }
}

const list = (length: number, entry: (n: number) => string): string =>
  `[${repeated(length - 3, (n) => `${entry(n)},`).slice(0, -1)}]`;

/** Bodies that are hostile whatever the parameters are. */
const hostileBodies: Readonly<Record<string, (bytes: number) => { contentType: string; body: Buffer }>> = {
  'many fields': (bytes) => ({ contentType: FORM, body: Buffer.from(repeated(bytes, (n) => `${n}=&`)) }),
  'broken percent-encoding': (bytes) => ({
    contentType: FORM,
    body: Buffer.from(`a=${'%E0%A4%A'.repeat(bytes / 8)}`),
  }),
  'no UTF-8': (bytes) => ({ contentType: FORM, body: Buffer.alloc(bytes, 0xc3) }),
  'many parts': (bytes) => ({
    contentType: 'multipart/form-data; boundary=b',
    body: Buffer.from(
      `${repeated(bytes - 50, (n) => `--b\r\nContent-Disposition: form-data; name="${n}"\r\n\r\n\r\n`)}--b--\r\n`,
    ),
  }),
  'many boundaries': (bytes) => ({
    contentType: 'multipart/form-data; boundary=b',
    body: Buffer.from('--b\r\n'.repeat(bytes / 5)),
  }),
  'half boundaries': (bytes) => ({
    contentType: 'multipart/form-data; boundary=--------------------------------------------------b',
    body: Buffer.from(
      `----------------------------------------------------b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'-'.repeat(bytes - 200)}`,
    ),
  }),
};

/** Text as it is, all else as JSON, as clients send it. */
const travelling = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** One way to be hostile, which is written out when it is needed. */
export interface HostileKind {
  readonly name: string;
  /** Writes a request of at most so many bytes. */
  readonly write: (bytes: number) => Hostile;
}

/** Every way: a request that is well-formed but for one hostile parameter, or one whose body is hostile as a whole. */
export function hostileKinds(endpoint: Endpoint): HostileKind[] {
  const variables = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const usual: readonly (readonly [string, string])[] = [
    ...variables.map((name) => [name, '1'] as const),
    ...Object.entries(exampleOf(endpoint.id)?.request ?? {}).map(
      ([name, value]) => [name, travelling(value)] as const,
    ),
  ];
  const request = (given: ReadonlyMap<string, string>, contentType: string, body: Buffer): Hostile => ({
    contentType,
    body,
    path: Object.fromEntries(variables.map((name) => [name, encodeURIComponent(given.get(name) ?? '1')])),
  });
  const withParameter = (parameter: string, written: (length: number) => string, bytes: number): Hostile => {
    const most = variables.includes(parameter) ? Math.min(bytes, LONGEST_PATH) : bytes;
    // Percent-encoding makes text up to nine times as long.
    for (let length = most; ; length = Math.floor(length * 0.8)) {
      const fields = new Map([...usual, [parameter, written(length)]]);
      const form = new URLSearchParams([...fields].filter(([name]) => !variables.includes(name))).toString();
      if (form.length <= bytes || length < 100) return request(fields, FORM, Buffer.from(form));
    }
  };
  return [
    ...['unknown', ...Object.keys(endpoint.parameters)].flatMap((parameter) =>
      Object.entries(hostileValues).map(([kind, written]) => ({
        name: `${parameter}: ${kind}`,
        write: (bytes: number) => withParameter(parameter, written, bytes),
      })),
    ),
    ...Object.entries(hostileBodies).map(([name, bodyOf]) => ({
      name,
      write: (bytes: number) => {
        const { contentType, body } = bodyOf(bytes);
        return request(new Map(usual), contentType, body);
      },
    })),
  ];
}

/** The gateway takes no longer addresses. */
const LONGEST_PATH = 8_000;

/** How a stranger says who they are. */
export const proofs = {
  'no key': () => undefined,
  'a wrong key': ({ people }: TestRealm) => basic({ ...people.member, apiKey: 'x'.repeat(32) }),
  'an unknown address': () => basic({ email: 'nobody@example.com', apiKey: 'x'.repeat(32) }),
} satisfies Readonly<Record<string, (realm: TestRealm) => string | undefined>>;

export type Proof = keyof typeof proofs;

/** What a request cost. */
export interface Cost {
  readonly status: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Milliseconds of processor. */
  readonly processor: number;
}

/** Sends a request as a stranger, and measures it. */
export async function sendAsStranger(
  realm: TestRealm,
  handler: Served,
  { contentType, body, path }: Hostile,
  proof: Proof,
): Promise<Cost> {
  const { endpoint } = handler;
  const authorization = proofs[proof](realm);
  const event = {
    headers: { host: realm.host, 'content-type': contentType, ...(authorization && { authorization }) },
    body: body.toString('base64'),
    isBase64Encoded: true,
    pathParameters: path,
    multiValueQueryStringParameters: null,
    requestContext: { requestId: randomUUID(), domainName: realm.host },
  };
  const environment = onlyDeclared(realm.outside.environment, endpoint.needs);
  const served = handler.with({ ...realm.outside, environment });
  realm.meter.reset();
  const before = process.threadCpuUsage();
  const { statusCode: status } = await served(event as never);
  const { user, system } = process.threadCpuUsage(before);
  const { readUnits, writeUnits } = realm.meter;
  return { status, readUnits, writeUnits, processor: (user + system) / 1_000 };
}
