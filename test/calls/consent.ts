import { handler as complete } from '../../functions/calls/complete.ts';
import { handler as create } from '../../functions/calls/create.ts';
import { handler as register } from '../../functions/calls/register.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../realm.ts';
import type { Provider } from './provider.ts';

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

/** Asks to be sent to the provider, and tells where that leads. */
export async function sentTo(realm: TestRealm, as: Person, provider = 'zoom'): Promise<URL> {
  const { status, headers } = await realm.call(register, as, {}, { path: { provider } });
  if (status !== 302) throw new Error(`not sent on: ${status}`);
  return new URL(String(headers.Location));
}

/** Comes back from the provider with a state and a code. */
export const comeBack = (
  realm: TestRealm,
  state: string,
  { provider = 'zoom', ...query }: Readonly<Record<string, string>> = {},
): Promise<Reply> =>
  realm.call(complete, undefined, {}, { path: { provider }, query: { state, code: 'good', ...query } });

/** Gives the consent, from the beginning to the end. */
export async function consented(realm: TestRealm, as: Person, provider = 'zoom'): Promise<void> {
  const url = await sentTo(realm, as, provider);
  const { status } = await comeBack(realm, url.searchParams.get('state') ?? '', { provider });
  if (status !== 200) throw new Error(`not completed: ${status}`);
}

/** Creates a call. */
export const call = (
  realm: TestRealm,
  as: Person,
  provider = 'zoom',
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Reply> => realm.call(create, as, parameters, { path: { provider } });
