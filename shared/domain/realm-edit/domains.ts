import { badRequest } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import {
  asciiDomain,
  type Domain,
  type Domains,
  domainObject,
  domainProblem,
  MAX_DOMAIN,
} from '../../model/realm/domains.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import { hasVersionOrNone, type Write } from '../../table/write.ts';
import { doUnrestrict } from './edit.ts';

/** Most domains of an organization, which keeps the item well below the item size. */
const MAX_DOMAINS = 500;

/** Checks a new domain (wire facts 8). */
export function checkNewDomain(input: string, { list }: Domains): string {
  // Clients send text either raw or as JSON text.
  const domain = asciiDomain(input.replace(/^"(.*)"$/, '$1'));
  const problem = domainProblem(domain);
  if (problem !== undefined) throw badRequest(`This is not a valid domain: ${problem}.`);
  if (list.some((each) => each.domain === domain)) {
    throw badRequest(`The domain '${domain}' is allowed already.`);
  }
  if (list.length >= MAX_DOMAINS) throw badRequest(`An organization has at most ${MAX_DOMAINS} domains.`);
  return domain;
}

/** Returns the domain with this exact name (wire facts 8), or its ASCII form. */
export function accessDomain({ list }: Domains, sent: string): Domain {
  const name = /^\p{ASCII}*$/u.test(sent) ? sent : asciiDomain(sent);
  const domain = list.find((each) => each.domain === name);
  if (domain === undefined) {
    throw badRequest(`The domain '${firstCodePoints(sent, MAX_DOMAIN)}' is not among the allowed ones.`);
  }
  return domain;
}

/** Replaces the list, if it is unchanged. */
const replaced = (realm: string, seen: Domains, list: readonly Domain[]): Write => ({
  put: key('domains', { realm }),
  item: { version: seen.version + 1, list },
  when: hasVersionOrNone(seen.version),
  lastWriterWins: true,
});

const domainEvent = (op: 'add' | 'change', domain: Domain): EventEntry =>
  eventForEveryone({ type: 'realm_domains', op, realm_domain: domainObject(domain) });

export const doAddDomain = (realm: string, seen: Domains, domain: Domain): Change<Domain> => ({
  writes: [replaced(realm, seen, [...seen.list, domain])],
  entries: [domainEvent('add', domain)],
  result: domain,
});

/** Changes whether subdomains are allowed too. */
export function doChangeDomain(
  realm: string,
  seen: Domains,
  { id, domain }: Domain,
  allowSubdomains: boolean,
): Change<Record<string, never>> {
  const changed = { id, domain, allowSubdomains };
  const list = seen.list.map((each) => (each.id === id ? changed : each));
  return { writes: [replaced(realm, seen, list)], entries: [domainEvent('change', changed)], result: {} };
}

/** Removes a domain. Removing the last one turns off the restriction to domains, as in the reference. */
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
      eventForEveryone({ type: 'realm_domains', op: 'remove', domain }),
    ],
    result: {},
  };
}
