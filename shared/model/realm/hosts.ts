import { badRequest, refusal } from '../../kernel/errors.ts';
import { HOME, type LookupKey, lookUp, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone, type Write } from '../../table/write.ts';
import { asciiDomain, domainProblem } from './domains.ts';
import type { Realm } from './realm.ts';

/** Matches every unregistered host: the default organization answers there. */
export const ANY_HOST = '*';

/** The hosts of an organization, in order of registration. */
export interface Hosts {
  readonly realm: string;
  readonly hosts: readonly string[];
  /** Incremented by each change; 0 for an organization older than the list. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    organization: Hosts;
  }
}

/** An organization as the operator sees it. */
export interface Organization extends Hosts, Pick<Realm, 'name' | 'created' | 'deactivated'> {}

/**
 * The first registered host; undefined if the organization answers only at unregistered hosts. Never taken from a
 * request.
 *
 * @param listed the item of the organization; absent for an organization older than the list
 */
export const ownHost = (realm: string, listed: Pick<Hosts, 'hosts'> | undefined): string | undefined =>
  (listed ?? unlisted(realm)).hosts.find((host) => host !== ANY_HOST);

/** Where clients find an organization: the default one at the address of the service, others at their first host there. */
export function addressOf({ hosts }: Pick<Hosts, 'hosts'>, site: URL): URL {
  const [first] = hosts;
  const address = new URL(site);
  if (!hosts.includes(ANY_HOST) && first !== undefined) address.hostname = first;
  return address;
}

/**
 * Checks a host name and returns its normal form: lower case, ASCII, without a port. It needs a dot, so that it
 * cannot equal the id of the default organization, and no number at the end: a service that is reached by IP address
 * has one organization.
 */
export function checkHost(given: string): string {
  const host = asciiDomain(given);
  const problem =
    domainProblem(host) ?? (/(^|\.)\d+$/.test(host) ? 'it is an address, or ends like one' : undefined);
  if (problem === undefined) return host;
  throw badRequest(`'${given}' is not the name of a host such as chat.example.com: ${problem}.`);
}

/** Stores the hosts of an organization, if they have not changed since they were read. */
export const hostsWrite = (seen: Pick<Hosts, 'realm' | 'version'>, hosts: readonly string[]): Write => ({
  put: key('organization', { realm: seen.realm }),
  item: { realm: seen.realm, hosts, version: seen.version + 1 },
  when: hasVersionOrNone(seen.version),
});

/** The hosts of an organization that is older than the list: the one it was created with. */
const unlisted = (realm: string): Hosts => ({
  realm,
  hosts: [realm === HOME ? ANY_HOST : realm],
  version: 0,
});

/** The organization with this id, if it exists. One round trip. */
export async function loadOrganization(table: Table, realm: string): Promise<Organization | undefined> {
  const [listed, found] = await Promise.all([
    table.get('organization', { realm }),
    table.get('realm', { realm }),
  ]);
  const { hosts, version } = listed ?? unlisted(realm);
  return (
    found && {
      realm,
      hosts,
      version,
      name: found.name,
      created: found.created,
      deactivated: found.deactivated,
    }
  );
}

/**
 * Where keys lead in the organization at a host, for a caller without credentials: nothing of it is cached. One round trip.
 *
 * @throws Refusal `NONEXISTENT_SUBDOMAIN` if no organization answers at this host
 */
export async function accessHost(
  { table, cache }: Pick<Outside, 'table' | 'cache'>,
  host: string,
  lookupKeys: readonly LookupKey[] = [],
): Promise<Resolved> {
  const resolved = await lookUp(table, cache, host, lookupKeys, () => false);
  if (resolved === undefined) throw refusal('unknownOrganization');
  return resolved;
}
