import type { DemoName } from '../../infra/local/demo.ts';
import { addKey } from '../../shared/domain/account/api-key.ts';
import { setInService } from '../../shared/domain/realm-edit/service.ts';
import { handlers } from '../support/handlers.ts';
import type { Person, Reply, TestRealm } from '../support/realm.ts';
import type { Call, Operation, Request } from './operation.ts';

/** An organization in which operations run, with people whose keys may be replaced. */
export interface Bench {
  readonly realm: TestRealm;
  readonly people: Record<DemoName, Person>;
  /** Lets some milliseconds go by. */
  readonly pass: (ms: number) => void;
  /** What others do after an endpoint was called: workers, mostly. */
  readonly after?: (endpoint: string) => Promise<void>;
}

/** Calls an endpoint, which must work. */
export async function asked(
  { people, after }: Bench,
  container: TestRealm,
  endpoint: string,
  as: DemoName | undefined,
  { parameters, ...options }: Request,
): Promise<Reply> {
  const handler = handlers.get(endpoint);
  if (handler === undefined) throw new Error(`there is no endpoint '${endpoint}'`);
  const reply = await container.call(handler, as && people[as], parameters, options);
  if (reply.status >= 400) {
    throw new Error(`${endpoint}: ${JSON.stringify([reply.body, container.reports.at(-1)])}`);
  }
  if (as && endpoint === 'users.regenerateKey') {
    people[as] = { ...people[as], apiKey: reply.body.api_key };
  }
  if (as && endpoint === 'apiKeys.revoke') {
    const { outside, realm } = container.container();
    people[as] = { ...people[as], apiKey: await addKey(outside, realm, people[as].email, 'another device') };
  }
  // Other operations follow in the same organization.
  if (endpoint === 'realm.deactivate') {
    await setInService(container.container().outside, container.realm, true);
  }
  await after?.(endpoint);
  return reply;
}

/** The calls with which operations prepare themselves. */
export const callOf =
  (bench: Bench, container: TestRealm): Call =>
  async (endpoint, as, parameters, options) => {
    const { headers, body } = await asked(bench, container, endpoint, as, {
      parameters: parameters ?? {},
      ...options,
    });
    return 'Location' in headers
      ? { location: String(headers.Location), cookie: String(headers['Set-Cookie']) }
      : body;
  };

/** Prepares an operation; the same again for each call of one that cannot be repeated. */
export async function requests(
  bench: Bench,
  container: TestRealm,
  operation: Operation,
): Promise<(n: number) => Promise<Request>> {
  const call = callOf(bench, container);
  if (!operation.repeatable) return async (n) => (await operation.prepared(call, n))(n);
  const request = await operation.prepared(call, 0);
  return async (n) => request(n);
}
