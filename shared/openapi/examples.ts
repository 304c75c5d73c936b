import type { Endpoint } from '../endpoints/endpoint.ts';
import examples from './examples.json' with { type: 'json' };

/** A request and its reply, recorded by a test (`test/openapi/examples.test.ts`). */
export interface Example {
  /** The parameters by name, decoded. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The whole reply; missing if it is not JSON. */
  readonly reply?: unknown;
}

/** The examples, by the id of their endpoint. */
export const exampleOf = (id: string): Example | undefined =>
  (examples as Readonly<Record<string, Example>>)[id];

/** The address in the examples. */
const SITE = 'https://chat.example.com';

/** The credentials in the examples. */
const CREDENTIALS = 'EMAIL:API_KEY';

/** The example of an endpoint as a shell command, if it has an example. */
export function commandOf({ id, method, path, parameters, file, access }: Endpoint): string | undefined {
  const request = exampleOf(id)?.request;
  if (request === undefined) return undefined;
  const wireOf = (name: string): string => {
    const value = request[name];
    return parameters[name]?.wire === 'json' ? JSON.stringify(value) : String(value);
  };
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(wireOf(name)));
  const fields = Object.keys(parameters)
    .filter((name) => name in request && !path.includes(`{${name}}`))
    .map((name) => field(`${name}=${wireOf(name)}`, file !== undefined));
  const upload = file === undefined ? [] : ['-F file=@FILE'];
  const hasBody = fields.length + upload.length > 0;
  const verb =
    method === 'GET' ? (hasBody ? ' -G' : '') : method === 'POST' && hasBody ? '' : ` -X ${method}`;
  const credentials = access === 'anyone' ? '' : ` -u ${CREDENTIALS}`;
  return [`curl${verb}${credentials} ${SITE}${address}`, ...fields, ...upload].join(' \\\n  ');
}

/** One parameter as an option of curl. */
function field(pair: string, isMultipart: boolean): string {
  if (isMultipart) return `--form-string ${quoted(pair)}`;
  return /^[\w=.-]+$/.test(pair) ? `-d ${pair}` : `--data-urlencode ${quoted(pair)}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
