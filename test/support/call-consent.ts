import { handler as complete } from '../../functions/calls/complete.ts';
import { handler as create } from '../../functions/calls/create.ts';
import { handler as register } from '../../functions/calls/register.ts';
import type { Provider } from './call-provider.ts';
import { newRealm, type Person, type Reply, type TestRealm } from './realm.ts';

/** An organization on a server whose operator set both providers up, at this address. */
export async function realmWith({ address }: Provider, given?: TestRealm): Promise<TestRealm> {
  const realm = given ?? (await newRealm());
  return realm.container(undefined, {
    environment: {
      ZOOM_CLIENT_ID: 'our-zoom',
      ZOOM_OAUTH_URL: address,
      ZOOM_API_URL: address,
      WEBEX_CLIENT_ID: 'our-webex',
      WEBEX_OAUTH_URL: address,
      WEBEX_API_URL: address,
    },
  });
}

/** A consent under way: where the browser is sent, what the provider carries, and what the browser keeps. */
export interface Consent {
  readonly url: URL;
  readonly state: string;
  /** What the browser sends with everything to this host, as a `Cookie` header. */
  readonly cookie: string;
}

/** Asks to be sent to the provider, in a browser of the caller's. */
export async function begin(
  realm: TestRealm,
  as: Person,
  provider = 'zoom',
  sent: Readonly<Record<string, string>> = {},
): Promise<Consent> {
  const { status, headers } = await realm.call(register, as, {}, { path: { provider }, headers: sent });
  if (status !== 302) throw new Error(`not sent on: ${status}`);
  const url = new URL(String(headers.Location));
  const [cookie = ''] = String(headers['Set-Cookie']).split(';');
  return { url, state: url.searchParams.get('state') ?? '', cookie };
}

/** What comes back from the provider besides the state, and with what headers. */
export interface Return {
  readonly provider?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Comes back from the provider in the browser that has this cookie, with a state and a code. */
export const comeBack = (
  realm: TestRealm,
  { state, cookie }: Partial<Pick<Consent, 'state' | 'cookie'>>,
  { provider = 'zoom', query, headers }: Return = {},
): Promise<Reply> =>
  realm.call(
    complete,
    undefined,
    {},
    {
      path: { provider },
      query: { ...(state !== undefined && { state }), code: 'good', ...query },
      headers: { ...(cookie !== undefined && { cookie }), ...headers },
    },
  );

/** Gives the consent, from the beginning to the end. */
export async function consented(realm: TestRealm, as: Person, provider = 'zoom'): Promise<void> {
  const { status } = await comeBack(realm, await begin(realm, as, provider), { provider });
  if (status !== 200) throw new Error(`not completed: ${status}`);
}

/** Creates a call. */
export const call = (
  realm: TestRealm,
  as: Person,
  provider = 'zoom',
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Reply> => realm.call(create, as, parameters, { path: { provider } });
