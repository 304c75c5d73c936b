import { expect } from 'vitest';
import { handler as add } from '../../functions/domains/add.ts';
import { handler as list } from '../../functions/domains/list.ts';
import { handler as remove } from '../../functions/domains/remove.ts';
import { handler as update } from '../../functions/domains/update.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/*
 * What tests of domains do again and again.
 */

export const addDomain = (
  realm: TestRealm,
  as: Person,
  domain: string,
  allow_subdomains = false,
): Promise<Reply> => realm.call(add, as, { domain, allow_subdomains });

export const updateDomain = (
  realm: TestRealm,
  as: Person,
  domain: string,
  allow_subdomains: unknown,
): Promise<Reply> => realm.call(update, as, { allow_subdomains }, { path: { domain } });

export const removeDomain = (realm: TestRealm, as: Person, domain: string): Promise<Reply> =>
  realm.call(remove, as, {}, { path: { domain } });

/** The domains as everybody may see them. */
export async function domainsOf(realm: TestRealm, as = realm.people.guest): Promise<readonly object[]> {
  const { status, body } = await realm.call(list, as);
  expect(status).toBe(200);
  return body.domains;
}

/** Adds a domain, which must work, and tells its number and name. */
export async function givenDomain(
  realm: TestRealm,
  domain: string,
  allowSubdomains = false,
): Promise<readonly [number, string]> {
  const { status, body } = await addDomain(realm, realm.people.owner, domain, allowSubdomains);
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
  return body.new_domain;
}
