import type { Example } from '../../shared/openapi/examples.ts';
import { handlers } from '../support/handlers.ts';
import type { Person, TestRealm } from '../support/realm.ts';

type Request = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: later requests look into earlier replies
type Body = any;

/** What examples show in place of what is another thing in every run. */
const SHOWN = {
  host: 'chat.example.com',
  key: 'abcdefghijklmnopqrstuvwxyzABCDEF',
  file: '1/4c/abcdefghijklmnopqrstuvwx',
  uuid: '0b5d4c2e-6a1f-4e3b-9c8d-7f6e5d4c3b2a',
  date: '2026-01-01T09:00:00.000Z',
  seconds: 1_767_258_000,
  day: '2026-01-01',
} as const;

/** Fields that hold a moment, in seconds. */
const MOMENT =
  /(timestamp|time|^created|^invited$|expiry_date|last_used|date_created|last_updated|last_update|last_update_id|^realm_date_created|_since|password_expiry)$/;

const ENVELOPE = ['request', 'result', 'msg'];
const rankOf = (field: string): number => {
  const place = ENVELOPE.indexOf(field);
  return place < 0 ? ENVELOPE.length : place;
};

/** Makes requests and keeps the first successful one to each endpoint, with its reply. */
export class Recorder {
  readonly examples = new Map<string, Example>();
  readonly #realm: TestRealm;

  constructor(realm: TestRealm) {
    this.#realm = realm;
  }

  /** Makes a request; parameters of the path are among the others. Returns the reply. */
  async ask(
    id: string,
    as: Person | undefined,
    request: Request = {},
    files?: readonly Uint8Array[],
  ): Promise<Body> {
    const handler = handlers.get(id);
    if (handler === undefined) throw new Error(`there is no endpoint '${id}'`);
    const { path, method } = handler.endpoint;
    const isInPath = (name: string): boolean => path.includes(`{${name}}`);
    const fields = Object.entries(request);
    const others = Object.fromEntries(fields.filter(([name]) => !isInPath(name)));
    const variables = Object.fromEntries(fields.filter(([name]) => isInPath(name)));
    const reply = await this.#realm.call(handler, as, method === 'GET' ? {} : others, {
      path: variables as Record<string, string | number>,
      ...(method === 'GET' && { query: others }),
      ...(files && { files }),
    });
    if (reply.status !== 200) throw new Error(`${id} is no example: ${JSON.stringify(reply.body)}`);
    if (!this.examples.has(id)) {
      this.examples.set(id, this.#shown({ request, reply: reply.body }) as Example);
    }
    return reply.body;
  }

  #shown(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) return value.map((part) => this.#shown(part, name));
    if (typeof value === 'object' && value !== null) {
      // The store keeps no order of fields; the envelope comes first all the same.
      const fields = Object.entries(value)
        .map(([field, part]) => [String(this.#shown(field)), this.#shown(part, field)] as const)
        .sort(([one], [other]) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1));
      return Object.fromEntries(fields);
    }
    if (typeof value === 'number') return MOMENT.test(name) ? SHOWN.seconds : value;
    if (typeof value !== 'string') return value;
    if (name === 'api_key') return SHOWN.key;
    if (name === 'shard') return SHOWN.file.split('/')[1];
    if (name === 'token') return SHOWN.file.split('/')[2];
    const { host, realm } = this.#realm;
    const [subdomain = host] = host.split('.');
    return value
      .replaceAll(host, SHOWN.host)
      .replaceAll(realm, 'chat')
      .replaceAll(subdomain, 'chat')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, SHOWN.uuid)
      .replace(/(?<=\/(?:invite|join)\/)[\w-]{32}/g, SHOWN.key)
      .replace(/(?<=\/temporary\/)[0-9A-F]{64}/g, (token) => '0'.repeat(token.length))
      .replace(/\b\d+\/[0-9a-f]{1,2}\/[\w-]{24}(?=\/)/g, SHOWN.file)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, SHOWN.date)
      .replace(/\b20\d\d-\d\d-\d\d\b/g, SHOWN.day)
      .replace(/\b[0-9a-f]{32,}\b/g, (digest) => '0'.repeat(digest.length));
  }
}
