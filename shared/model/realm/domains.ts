import { domainToASCII } from 'node:url';
import { badRequest } from '../../kernel/errors.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone, type Write } from '../../table/write.ts';
import type { Realm } from './realm.ts';

/** A domain that email addresses of new users may have, if the organization restricts them. */
export interface Domain {
  /** The log number of its creation. */
  readonly id: number;
  /** Lower case and ASCII. */
  readonly domain: string;
  readonly allowSubdomains: boolean;
}

/** All allowed domains in order of creation. One item, so that removing the last one is noticed. */
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

/** One round trip. */
export const loadDomains = async (table: Table, realm: string): Promise<Domains> =>
  (await table.get('domains', { realm })) ?? none;

/** A domain as clients see it (wire facts 8). */
export const domainObject = ({ domain, allowSubdomains }: Domain) => ({
  domain,
  allow_subdomains: allowSubdomains,
});

/** Why a new user may not have this address, or undefined: a restricted organization accepts only its domains. */
export function addressProblem(
  email: string,
  { settings }: Pick<Realm, 'settings'>,
  { list }: Domains,
): string | undefined {
  if (!settings.emails_restricted_to_domains) return undefined;
  const cut = email.lastIndexOf('@');
  // With a plus, one mailbox has any number of addresses.
  if (email.slice(0, cut).includes('+')) return 'Addresses with a + are not allowed in this organization.';
  const domain = asciiDomain(email.slice(cut + 1));
  const isAllowed = list.some(
    (allowed) =>
      domain === allowed.domain || (allowed.allowSubdomains && domain.endsWith(`.${allowed.domain}`)),
  );
  return isAllowed ? undefined : `Addresses at '${domain}' are not allowed in this organization.`;
}

/** Checks that a new user may have this address. */
export function checkAddressAllowed(email: string, realm: Pick<Realm, 'settings'>, domains: Domains): void {
  const problem = addressProblem(email, realm, domains);
  if (problem !== undefined) throw badRequest(problem);
}

/** Fails the transaction if the domains have changed since they were read. */
export const doRequireSameDomains = (realm: string, seen: Domains): Write => ({
  check: key('domains', { realm }),
  when: hasVersionOrNone(seen.version),
});

/** The normal form of a domain: lower case and ASCII (punycode). Empty if it has none. */
export function asciiDomain(input: string): string {
  const name = input.trim().toLowerCase();
  if (/^\p{ASCII}*$/u.test(name)) return name;
  return /^[\p{L}\p{M}\p{N}.。．｡-]+$/u.test(name) ? domainToASCII(name) : '';
}

/** Why text is not a domain, as a clause; undefined if it is one. */
export function domainProblem(domain: string): string | undefined {
  if (domain === '') return 'it is empty, or has characters that no domain can have';
  if (domain.length > MAX_DOMAIN) return `it has more than ${MAX_DOMAIN} characters`;
  const labels = domain.split('.');
  if (labels.length < 2) return 'it has no dot';
  if (labels.includes('')) return 'it has an empty part before, after or between dots';
  if (labels.some((label) => label.length > MAX_LABEL)) {
    return `a part of it has more than ${MAX_LABEL} characters`;
  }
  if (!labels.every((label) => /^[a-z0-9-]+$/.test(label))) {
    return 'it may have letters, digits, hyphens and dots only';
  }
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return 'a part of it begins or ends with a hyphen';
  }
  return undefined;
}

/** Longest domain, and longest label in one (RFC 1035). */
export const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
