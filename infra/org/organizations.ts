import { badRequest } from '../../shared/kernel/errors.ts';
import { asciiDomain, MAX_DOMAIN } from '../../shared/model/realm/domains.ts';
import { ANY_HOST, type Hosts, loadOrganization, type Organization } from '../../shared/model/realm/hosts.ts';
import type { Table } from '../../shared/table/table.ts';

/** Whether it answers at every unregistered host. */
export const isDefault = ({ hosts }: Pick<Hosts, 'hosts'>): boolean => hosts.includes(ANY_HOST);

/** All organizations, ordered by id. Two round trips. */
export async function loadOrganizations(table: Table): Promise<Organization[]> {
  const [listed, fallback] = await Promise.all([
    table.all('organization', {}),
    table.get('host', { host: ANY_HOST }),
  ]);
  const realms = listed.map(({ realm }) => realm);
  // The default organization may be older than the list.
  if (fallback !== undefined && !realms.includes(fallback.realm)) realms.unshift(fallback.realm);
  const found = await Promise.all(realms.map((realm) => loadOrganization(table, realm)));
  return found.filter((organization) => organization !== undefined);
}

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
