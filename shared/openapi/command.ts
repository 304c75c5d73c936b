import type { Endpoint } from '../endpoints/endpoint.ts';
import { exampleOf } from './examples.ts';

/** Where the examples are said to happen. */
const SITE = 'https://chat.example.com';

/** Whom they are said to come from. */
const CREDENTIALS = 'EMAIL:API_KEY';

/** The example of an endpoint as a command for a shell, if it has one. */
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
