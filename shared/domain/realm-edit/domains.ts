import { badRequest } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import {
  asciiDomain,
  type Domain,
  type Domains,
  domainObject,
  domainProblem,
  isSame,
  LONGEST_DOMAIN,
} from '../../model/realm/domains.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doUnrestrict } from './edit.ts';

/** Most domains of an organization, which keeps the item well below what the table holds. */
const MAX_DOMAINS = 500;

/** Decides whether text is a domain that can be added (wire facts 8). */
export function checkNewDomain(given: string, { list }: Domains): string {
  // Text is taken raw or as JSON text, since clients of both habits are about.
  const domain = asciiDomain(given.replace(/^"(.*)"$/, '$1'));
  const problem = domainProblem(domain);
  if (problem !== undefined) throw badRequest(`This is not a valid domain: ${problem}.`);
  if (list.some((each) => each.domain === domain)) {
    throw badRequest(`The domain '${domain}' is allowed already.`);
  }
  if (list.length >= MAX_DOMAINS) throw badRequest(`An organization has at most ${MAX_DOMAINS} domains.`);
  return domain;
}

/** The domain of this name, which is taken as it is sent (wire facts 8); letters beyond ASCII in their ASCII form. */
export function accessDomain({ list }: Domains, sent: string): Domain {
  const name = /^\p{ASCII}*$/u.test(sent) ? sent : asciiDomain(sent);
  const domain = list.find((each) => each.domain === name);
  if (domain === undefined) {
    throw badRequest(`The domain '${firstCodePoints(sent, LONGEST_DOMAIN)}' is not among the allowed ones.`);
  }
  return domain;
}

/** Puts another list in the place of the one that was seen. */
const replaced = (realm: string, seen: Domains, list: readonly Domain[]): Write => ({
  put: key('domains', { realm }),
  item: { version: seen.version + 1, list },
  when: isSame(seen),
  lastWriterWins: true,
});

const told = (op: 'add' | 'change', domain: Domain): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm_domains', op, realm_domain: domainObject(domain) },
});

/** Adds a domain. */
export const doAddDomain = (realm: string, seen: Domains, domain: Domain): Change<Domain> => ({
  writes: [replaced(realm, seen, [...seen.list, domain])],
  entries: [told('add', domain)],
  result: domain,
});

/** Changes whether addresses in subdomains are allowed too. */
export function doChangeDomain(
  realm: string,
  seen: Domains,
  { id, domain }: Domain,
  allowSubdomains: boolean,
): Change<Record<string, never>> {
  const changed = { id, domain, allowSubdomains };
  const list = seen.list.map((each) => (each.id === id ? changed : each));
  return { writes: [replaced(realm, seen, list)], entries: [told('change', changed)], result: {} };
}

/**
 * Removes a domain. With the last one goes the restriction to domains, like in the reference: it would keep everybody
 * out.
 */
export function doRemoveDomain(
  realm: string,
  organization: Realm,
  seen: Domains,
  { id, domain }: Domain,
): Change<Record<string, never>> {
  const list = seen.list.filter((each) => each.id !== id);
  const ends = list.length === 0 && organization.settings.emails_restricted_to_domains;
  const unrestricted = ends ? doUnrestrict(realm, organization) : undefined;
  return {
    writes: [replaced(realm, seen, list), ...(unrestricted ? [unrestricted.write] : [])],
    entries: [
      ...(unrestricted ? [unrestricted.event] : []),
      {
        kind: 'event',
        hearers: { everyone: 'all' },
        payload: { type: 'realm_domains', op: 'remove', domain },
      },
    ],
    result: {},
  };
}
