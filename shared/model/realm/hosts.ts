import { badRequest } from '../../kernel/errors.ts';
import { HOME } from '../../kernel/lookup.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { asciiDomain, domainProblem, MAX_DOMAIN } from './domains.ts';
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

/** Whether it answers at every unregistered host. */
export const isDefault = ({ hosts }: Pick<Hosts, 'hosts'>): boolean => hosts.includes(ANY_HOST);

/**
 * The first registered host; undefined if the organization answers only at unregistered hosts. Never taken from a
 * request.
 *
 * @param listed the item of the organization; absent for an organization older than the list
 */
export const ownHost = (realm: string, listed: Pick<Hosts, 'hosts'> | undefined): string | undefined =>
  (listed ?? unlisted(realm)).hosts.find((host) => host !== ANY_HOST);

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
  when: seen.version === 0 ? { absent: true } : { equals: { version: seen.version } },
});

/** The hosts of an organization that is older than the list: the one it was created with. */
const unlisted = (realm: string): Hosts => ({
  realm,
  hosts: [realm === HOME ? ANY_HOST : realm],
  version: 0,
});

/** All organizations, ordered by id. Two round trips. */
export async function loadOrganizations(table: Table): Promise<Organization[]> {
  const [listed, fallback] = await Promise.all([
    table.all('organization', {}),
    table.get('host', { host: ANY_HOST }),
  ]);
  // The default organization may be older than the list.
  const isMissing = fallback !== undefined && !listed.some(({ realm }) => realm === fallback.realm);
  const all = isMissing ? [unlisted(fallback.realm), ...listed] : listed;
  const found = await Promise.all(all.map((hosts) => withRealm(table, hosts)));
  return found.filter((organization) => organization !== undefined);
}

/** The organization with this id, if it exists. One round trip. */
export async function loadOrganization(table: Table, realm: string): Promise<Organization | undefined> {
  const [hosts, found] = await Promise.all([
    table.get('organization', { realm }),
    table.get('realm', { realm }),
  ]);
  return found && organizationOf(hosts ?? unlisted(realm), found);
}

async function withRealm(table: Table, hosts: Hosts): Promise<Organization | undefined> {
  const found = await table.get('realm', { realm: hosts.realm });
  return found && organizationOf(hosts, found);
}

const organizationOf = (
  { realm, hosts, version }: Hosts,
  { name, created, deactivated }: Realm,
): Organization => ({ realm, hosts, version, name, created, deactivated });

/**
 * Loads the organization with this id or host; without either, the only one.
 *
 * @throws Refusal `BAD_REQUEST` if there is none, or more than one
 */
export async function accessOrganizationOf(table: Table, given: string | undefined): Promise<Organization> {
  if (given === undefined) {
    const all = await loadOrganizations(table);
    if (all.length > 1) throw badRequest('There is more than one organization: name one by its ID or host.');
    if (all[0] === undefined) throw badRequest('There is no organization yet.');
    return all[0];
  }
  const missing = badRequest(`There is no organization with the ID or host '${given}'.`);
  const name = asciiDomain(given);
  // Longer keys are invalid in DynamoDB.
  if (name.length > MAX_DOMAIN) throw missing;
  const [byId, led] = await Promise.all([loadOrganization(table, name), table.get('host', { host: name })]);
  const byHost = led && led.realm !== byId?.realm ? await loadOrganization(table, led.realm) : undefined;
  if (byId && byHost) {
    throw badRequest(
      `'${name}' is the ID of the organization '${byId.name}' and a host of '${byHost.name}': name it by another host.`,
    );
  }
  const found = byHost ?? byId;
  if (found === undefined) throw missing;
  return found;
}
