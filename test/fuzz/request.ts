import fc from 'fast-check';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import type { Parameter } from '../../shared/endpoints/parameter.ts';
import { type Draft, type Pools, resolved, travelling } from './draft.ts';
import { hostileText } from './hostile.ts';
import { plausible } from './plausible.ts';
import { recipes } from './recipes.ts';

/** How a body is written, where one is. */
const bodyKinds = [
  ...['form', 'multipart', 'json', 'text', 'untyped'],
  ...['broken percent', 'broken UTF-8', 'broken multipart', 'bytes'],
] as const;
type BodyKind = (typeof bodyKinds)[number];

/** How the caller proves who they are. */
const proofs = [
  ...['right', 'none', 'empty', 'bearer', 'no key', 'not base64', 'wrong key', 'three parts', 'other scheme'],
  ...['no part', 'long', 'NUL', "somebody else's name", 'two tokens', 'upper case', 'not UTF-8'],
] as const;
export type Proof = (typeof proofs)[number];

/** What the request says of where it goes. */
const hosts = [
  'right',
  'upper case',
  'with port',
  'foreign',
  'unknown',
  'empty',
  'none',
  'long',
  'odd',
] as const;
export type HostKind = (typeof hosts)[number];

/** A request before anything is known of the state that it meets. */
export interface RequestDraft {
  readonly endpoint: Endpoint;
  /** Who calls, by their place among the actors. */
  readonly actor: number;
  /** The caller is one whom the declaration allows. */
  readonly suited: boolean;
  readonly proof: Proof;
  readonly host: HostKind;
  readonly fields: readonly (readonly [string, Draft])[];
  /** The parameters stand where others of this method's do not: in the query, or in the body. */
  readonly elsewhere: boolean;
  /** What a variable of the path holds instead of its value, percent-encoding and all. */
  readonly path: string | undefined;
  readonly body: BodyKind;
  readonly files: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The first one almost always. */
const seldom = <T>(usual: T, all: readonly T[], oneIn: number): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: oneIn - 1, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...all) },
  );

const BROKEN_PATHS = [
  '%',
  '%zz',
  '%00',
  '%ff',
  '%C3%28',
  '%ED%A0%80',
  '',
  '%20',
  '%2F',
  '..',
  '%25',
  'a%40b',
  '0',
];

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.dictionary(
  fc.constantFrom(
    'user-agent',
    'accept',
    'accept-encoding',
    'x-forwarded-proto',
    'x-forwarded-for',
    'cookie',
  ),
  fc.oneof(
    fc.constantFrom('gzip', 'gzip;q=0, identity', '*;q=0', 'gzip;q=x', 'https,http', '🙂', '"', ';;;=,,', ''),
    hostileText,
  ),
);

/** Requests to an endpoint: mostly such as get far, each wrong in its own way now and then. */
export function requestsTo(endpoint: Endpoint): fc.Arbitrary<RequestDraft> {
  const names = Object.keys(endpoint.parameters);
  const more = fc.oneof(
    { weight: 12, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.tuple(fc.constantFrom('client', 'x', '__proto__', ...names), hostileText)),
    },
  );
  return fc.record({
    endpoint: fc.constant(endpoint),
    actor: fc.nat(1_000),
    suited: fc.nat(9).map((n) => n < 7),
    proof: seldom<Proof>('right', proofs, 20),
    host: seldom<HostKind>('right', hosts, 25),
    fields: fc.tuple(fieldsOf(endpoint), more).map(([given, others]) => [...given, ...others]),
    elsewhere: fc.nat(19).map((n) => n === 0),
    path: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...BROKEN_PATHS) },
    ),
    body: seldom<BodyKind>('form', bodyKinds, 12),
    files: seldom(endpoint.file === undefined ? 0 : 1, [0, 1, 2], 8),
    headers: fc.oneof({ weight: 8, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
  });
}

/** The names of what stands in the path; the last one may take the rest of it. */
const variablesOf = ({ path }: Endpoint): string[] =>
  [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name);

type FieldDraft = readonly [string, Draft];

/**
 * The fields of a request: the required ones, and few of the others, since one that is refused makes a refusal of the
 * whole. Now and then all of them, or one that is missing or stands there twice.
 */
function fieldsOf(endpoint: Endpoint): fc.Arbitrary<readonly FieldDraft[]> {
  const field = ([name, parameter]: readonly [string, Parameter]): fc.Arbitrary<FieldDraft> =>
    fc
      .oneof(
        { weight: 24, arbitrary: plausible(endpoint.id, name, parameter) },
        { weight: 1, arbitrary: hostileText },
      )
      .map((value) => [name, value] as const);
  const isNeeded = ([name, { required }]: readonly [string, Parameter]): boolean =>
    required || name === 'dont_block' || variablesOf(endpoint).includes(name);
  const all = Object.entries(endpoint.parameters);
  const needed = all.filter(isNeeded).map(field);
  const others = all.filter((one) => !isNeeded(one));
  // A change that changes nothing is refused.
  const least = endpoint.method === 'PATCH' ? Math.min(1, others.length) : 0;
  const few = fc.subarray(others, { minLength: least, maxLength: Math.min(2, others.length) });
  const some = fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: fc.subarray(others) });
  const meant = recipes[endpoint.id];
  const usual = fc
    .tuple(
      fc.tuple(...needed),
      some.chain((chosen) => fc.tuple(...chosen.map(field))),
    )
    .map(([one, other]): FieldDraft[] => [...one, ...other]);
  const whole = meant ? fc.oneof({ weight: 2, arbitrary: meant }, { weight: 1, arbitrary: usual }) : usual;
  return fc.tuple(whole, fc.nat(40), fc.nat(20)).map(([fields, chance, which]) => {
    const one = fields[which % Math.max(1, fields.length)];
    if (one === undefined || chance > 1) return fields;
    return chance === 0 ? fields.filter((field) => field !== one) : [...fields, one];
  });
}

/** The parts of a gateway event that functions read. */
export interface Sent {
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  readonly pathParameters: Record<string, string> | null;
  readonly multiValueQueryStringParameters: Record<string, string[]> | null;
}

/** Writes the request out, as the gateway would hand it to the function. */
export function written(
  draft: RequestDraft,
  own: Pools,
  foreign: Pools,
  headers: Readonly<Record<string, string>>,
  picture: Uint8Array,
): Promise<Sent> {
  const { endpoint } = draft;
  const fields = draft.fields.map(
    ([name, value]) => [name, travelling(resolved(value, own, foreign))] as const,
  );
  const variables = variablesOf(endpoint);
  const inPath = variables.map((name) => {
    const value = fields.find(([field]) => field === name)?.[1] ?? '0';
    return [name, draft.path ?? encodeURIComponent(value.toWellFormed())] as const;
  });
  const others = fields.filter(([name]) => !variables.includes(name));
  const inQuery = (endpoint.method === 'GET') !== draft.elsewhere ? others : [];
  const inBody = inQuery === others ? [] : others;
  return bodyOf(draft, inBody, picture).then(({ contentType, bytes }) => ({
    headers: { ...headers, ...(contentType !== undefined && { 'content-type': contentType }) },
    body: bytes.length === 0 ? null : Buffer.from(bytes).toString('base64'),
    isBase64Encoded: bytes.length > 0,
    pathParameters: inPath.length === 0 ? null : Object.fromEntries(inPath),
    multiValueQueryStringParameters:
      inQuery.length === 0
        ? null
        : Object.fromEntries(
            [...Map.groupBy(inQuery, ([name]) => name)].map(([name, values]) => [
              name,
              // The gateway decodes UTF-8, which has no halves of characters.
              values.map(([, value]) => value.toWellFormed()),
            ]),
          ),
  }));
}

type Fields = readonly (readonly [string, string])[];
interface Body {
  readonly contentType: string | undefined;
  readonly bytes: Uint8Array;
}

async function bodyOf({ body, files }: RequestDraft, fields: Fields, picture: Uint8Array): Promise<Body> {
  const form = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString();
  const contentType = 'application/x-www-form-urlencoded';
  const encoded = new TextEncoder().encode(form);
  if (body === 'multipart' || body === 'broken multipart' || (files > 0 && body === 'form')) {
    const whole = await multipart(fields, files, picture);
    if (body !== 'broken multipart') return whole;
    const half = whole.bytes.slice(0, Math.floor(whole.bytes.length / 2));
    return { contentType: files === 0 ? 'multipart/form-data' : whole.contentType, bytes: half };
  }
  switch (body) {
    case 'form':
      return { contentType: `${contentType}; charset=utf-8`, bytes: encoded };
    case 'json':
      return {
        contentType: 'application/json',
        bytes: new TextEncoder().encode(JSON.stringify(Object.fromEntries(fields))),
      };
    case 'text':
      return { contentType: 'text/plain', bytes: encoded };
    case 'untyped':
      return { contentType: undefined, bytes: encoded };
    case 'broken percent':
      return { contentType, bytes: new TextEncoder().encode(`${form}&x=%E0%A4%A&y=%&z=%zz`) };
    case 'broken UTF-8':
      return {
        contentType,
        bytes: Buffer.concat([encoded, Buffer.from([0x26, 0x78, 0x3d, 0xc3, 0x28, 0xff])]),
      };
    case 'bytes':
      return { contentType, bytes: Buffer.from(form, 'utf16le') };
  }
}

async function multipart(fields: Fields, files: number, picture: Uint8Array): Promise<Body> {
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  for (let i = 0; i < files; i++) data.append(`file${i}`, new Blob([new Uint8Array(picture)]), `file${i}`);
  const answer = new Response(data);
  return {
    contentType: answer.headers.get('content-type') ?? undefined,
    bytes: new Uint8Array(await answer.arrayBuffer()),
  };
}
