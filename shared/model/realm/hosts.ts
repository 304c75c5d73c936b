import { badRequest } from '../../kernel/errors.ts';
import { HOME } from '../../kernel/lookup.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { asciiDomain, domainProblem, LONGEST_DOMAIN } from './domains.ts';
import type { Realm } from './realm.ts';

/** Stands for every host that nobody registered: there the default organization answers. */
export const ANY_HOST = '*';

/** Which hosts lead to an organization, in the order in which they were given to it. */
export interface Hosts {
  readonly realm: string;
  readonly hosts: readonly string[];
  /** Grows with each change; 0 for an organization that is older than the list. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    organization: Hosts;
  }
}

/** An organization as its operator knows it. */
export interface Organization extends Hosts, Pick<Realm, 'name' | 'created' | 'deactivated'> {}

/** Whether it answers at the hosts that nobody registered. */
export const isDefault = ({ hosts }: Pick<Hosts, 'hosts'>): boolean => hosts.includes(ANY_HOST);

/**
 * The host that the operator gave to the organization first, as it is stored: not what some request says. Undefined
 * for one that answers only at the hosts that nobody registered.
 *
 * @param listed what the list of organizations says; absent for an organization that is older than the list
 */
export const ownHost = (realm: string, listed: Pick<Hosts, 'hosts'> | undefined): string | undefined =>
  (listed ?? unlisted(realm)).hosts.find((host) => host !== ANY_HOST);

/**
 * Decides whether text is the name of a host at which an organization can answer, and tells it as requests have it: in
 * small letters, letters beyond ASCII as the name system has them, without a port.
 *
 * At least one dot, so that no name of a host can be the id of the default organization, and no number at the end:
 * a service that is reached by its address alone has one organization.
 */
export function checkHost(given: string): string {
  const host = asciiDomain(given);
  const problem =
    domainProblem(host) ?? (/(^|\.)\d+$/.test(host) ? 'it is an address, or ends like one' : undefined);
  if (problem === undefined) return host;
  throw badRequest(`'${given}' is not the name of a host such as chat.example.com: ${problem}.`);
}

/** Puts the organization on the list of all with these hosts, if it is there as it was seen. */
export const hostsWrite = (seen: Pick<Hosts, 'realm' | 'version'>, hosts: readonly string[]): Write => ({
  put: key('organization', { realm: seen.realm }),
  item: { realm: seen.realm, hosts, version: seen.version + 1 },
  when: seen.version === 0 ? { absent: true } : { equals: { version: seen.version } },
});

/** What was known of an organization that is not on the list: it had one host, by which it was made. */
const unlisted = (realm: string): Hosts => ({
  realm,
  hosts: [realm === HOME ? ANY_HOST : realm],
  version: 0,
});

/** All organizations, in the order of their ids. Two round trips; the cost is that of the reply. */
export async function loadOrganizations(table: Table): Promise<Organization[]> {
  const [listed, fallback] = await Promise.all([
    table.all('organization', {}),
    table.get('host', { host: ANY_HOST }),
  ]);
  // The default one of a service that is older than the list.
  const isMissing = fallback !== undefined && !listed.some(({ realm }) => realm === fallback.realm);
  const all = isMissing ? [unlisted(fallback.realm), ...listed] : listed;
  const found = await Promise.all(all.map((hosts) => withRealm(table, hosts)));
  return found.filter((organization) => organization !== undefined);
}

/** The organization with this id, if there is one. One round trip. */
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
 * Loads the organization of this id, or to which this host leads; without either the only one there is. Refuses where
 * that is none, or more than one.
 */
export async function accessOrganizationOf(table: Table, given: string | undefined): Promise<Organization> {
  if (given === undefined) {
    const all = await loadOrganizations(table);
    if (all.length > 1)
      throw badRequest('There is more than one organization: say which, by its ID or a host.');
    if (all[0] === undefined) throw badRequest('There is no organization yet.');
    return all[0];
  }
  const missing = badRequest(`There is no organization with the ID or host '${given}'.`);
  const name = asciiDomain(given);
  // The table takes no longer keys, and has none.
  if (name.length > LONGEST_DOMAIN) throw missing;
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
