import { domainToASCII } from 'node:url';
import { badRequest } from '../../kernel/errors.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Realm } from './realm.ts';

/** A domain in which new people may have their addresses, where the organization restricts them. */
export interface Domain {
  /** The number under which it was added. */
  readonly id: number;
  /** In lower case and in ASCII. */
  readonly domain: string;
  readonly allowSubdomains: boolean;
}

/** All of them, in the order in which they were added: one item, so that the last one is known for the last. */
export interface Domains {
  readonly version: number;
  readonly list: readonly Domain[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    domains: Domains;
  }
}

const none: Domains = { version: 0, list: [] };

/** Reads the domains in one round trip. */
export const loadDomains = async (table: Table, realm: string): Promise<Domains> =>
  (await table.get('domains', { realm })) ?? none;

/** A domain as clients see it (wire facts 8). */
export const domainObject = ({ domain, allowSubdomains }: Domain) => ({
  domain,
  allow_subdomains: allowSubdomains,
});

/** Decides whether somebody new may have this address: a restricted organization takes them from its domains only. */
export function checkAddressAllowed(
  email: string,
  { settings }: Pick<Realm, 'settings'>,
  { list }: Domains,
): void {
  if (!settings.emails_restricted_to_domains) return;
  const cut = email.lastIndexOf('@');
  // Behind a plus, one mailbox has as many addresses as it likes.
  if (email.slice(0, cut).includes('+')) {
    throw badRequest('Addresses with a + are not allowed in this organization.');
  }
  const domain = asciiDomain(email.slice(cut + 1));
  const isAllowed = list.some(
    (allowed) =>
      domain === allowed.domain || (allowed.allowSubdomains && domain.endsWith(`.${allowed.domain}`)),
  );
  if (!isAllowed) throw badRequest(`Addresses at '${domain}' are not allowed in this organization.`);
}

/** Makes the transaction fail if the domains have changed since they were read. */
export const doRequireSameDomains = (realm: string, seen: Domains): Write => ({
  check: key('domains', { realm }),
  when: isSame(seen),
});

/** That the domains are those that were seen. */
export const isSame = ({ version }: Domains) => (version === 0 ? { absent: true } : { equals: { version } });

/** The one form of a name: lower case, and letters beyond ASCII as the name system has them. Empty if it has none. */
export function asciiDomain(given: string): string {
  const name = given.trim().toLowerCase();
  if (/^\p{ASCII}*$/u.test(name)) return name;
  return /^[\p{L}\p{M}\p{N}.。．｡-]+$/u.test(name) ? domainToASCII(name) : '';
}

/** What keeps text from being a domain, as a part of a sentence; undefined if nothing. */
export function domainProblem(domain: string): string | undefined {
  if (domain === '') return 'it is empty, or has characters that no domain can have';
  if (domain.length > LONGEST_DOMAIN) return `it has more than ${LONGEST_DOMAIN} characters`;
  const labels = domain.split('.');
  if (labels.length < 2) return 'it has no dot';
  if (labels.includes('')) return 'nothing stands before, after or between dots';
  if (labels.some((label) => label.length > LONGEST_LABEL)) {
    return `a part of it has more than ${LONGEST_LABEL} characters`;
  }
  if (!labels.every((label) => /^[a-z0-9-]+$/.test(label))) {
    return 'it may have letters, digits, hyphens and dots only';
  }
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return 'a part of it begins or ends with a hyphen';
  }
  return undefined;
}

/** Longest name of a domain and longest part between its dots (RFC 1035). */
export const LONGEST_DOMAIN = 253;
const LONGEST_LABEL = 63;
