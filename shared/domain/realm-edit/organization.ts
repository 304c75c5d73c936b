import { refusal } from '../../kernel/errors.ts';
import { lookUp } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Realm } from '../../model/realm/realm.ts';

/** Loads the organization at a host, or undefined if there is none. Two round trips, one when warm. */
export async function loadOrganization(outside: Outside, host: string): Promise<Realm | undefined> {
  const { table, cache } = outside;
  const load = (realm: string): Promise<Realm | undefined> => table.get('realm', { realm });
  const guess = cache.cached(host, []);
  const guessed = guess && load(guess.realm);
  const [known, early] = await Promise.all([lookUp(table, cache, host, [], () => true), guessed]);
  if (known === undefined) return undefined;
  return known.realm === guess?.realm ? early : load(known.realm);
}

/** Loads the organization at a host, or refuses if there is none. */
export async function accessOrganization(outside: Outside, host: string): Promise<Realm> {
  const realm = await loadOrganization(outside, host);
  if (realm === undefined) throw refusal('unknownOrganization');
  return realm;
}
