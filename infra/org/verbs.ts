import {
  accessAccountAsOperator,
  addPersonAsOperator,
  type KeyedAccount,
  renewKeyAsOperator,
} from '../../shared/domain/account/operator.ts';
import { makePasswordLink } from '../../shared/domain/account/password-link.ts';
import { createOrganization } from '../../shared/domain/organization/create.ts';
import { changeHosts } from '../../shared/domain/realm-edit/hosts.ts';
import { setInService } from '../../shared/domain/realm-edit/service.ts';
import { voidIndex } from '../../shared/domain/search/run.ts';
import { type Role, roles } from '../../shared/model/permission/permission.ts';
import { ANY_HOST, addressOf, type Hosts, type Organization } from '../../shared/model/realm/hosts.ts';
import { clientConfiguration } from '../../shared/model/user/client-configuration.ts';
import { linkAddress } from '../../shared/model/user/link.ts';
import { UsageProblem, type VerbName, type Wanted } from './arguments.ts';
import { endMailAddress } from './mail-address.ts';
import { migrateOrganizations } from './migrate.ts';
import { accessOrganizationOf, isDefault, loadOrganizations } from './organizations.ts';
import type { ReachedService } from './place.ts';

/** What came of a verb. */
export interface Told {
  /** The result, for the standard output or a file. */
  readonly result?: string;
  /** What a person should know besides. */
  readonly notes: readonly string[];
}

type Given = Wanted['given'];

const text = (given: Given, name: keyof Given): string => given[name] ?? '';

/** What each verb does at a service. They refuse as the domain does, with one sentence. */
export const verbs: Readonly<
  Record<VerbName, (service: ReachedService, given: Given, tell: (line: string) => void) => Promise<Told>>
> = {
  async create(service, given) {
    const { owner, ...organization } = await createOrganization(service.outside, {
      name: text(given, 'name'),
      ownerEmail: text(given, 'owner-email'),
      ownerName: given['owner-name'],
      host: given.host,
      isOwnerKeyless: given.out === undefined,
    });
    const where = isDefault(organization) ? 'at every host that no other has' : `at ${organization.hosts[0]}`;
    const made = `Made the organization '${organization.name}' (ID ${organization.realm}), which answers ${where}.`;
    return letIn(service, organization, owner, made, given);
  },

  async list({ outside }, given) {
    const organizations = await loadOrganizations(outside.table);
    if (given.json !== undefined)
      return { result: `${JSON.stringify(organizations.map(listed), undefined, 2)}\n`, notes: [] };
    if (organizations.length === 0) return { notes: ['There is no organization yet: make one with create.'] };
    const notes = organizations.some(isDefault)
      ? [`${ANY_HOST} is every host that no organization has.`]
      : [];
    return { result: listText(organizations), notes };
  },

  async 'add-user'(service, given) {
    const role = roleNamed(given.role ?? 'member');
    const organization = await accessOrganizationOf(service.outside.table, given.org);
    const person = { email: text(given, 'email'), fullName: text(given, 'name'), role };
    const isKeyless = given.out === undefined;
    const account = await addPersonAsOperator(service.outside, organization.realm, person, isKeyless);
    const made = `Made the account ${account.email} (user ID ${account.userId}) in '${organization.name}'.`;
    return letIn(service, organization, account, made, given);
  },

  async 'password-link'(service, given) {
    const organization = await accessOrganizationOf(service.outside.table, given.org);
    const { user } = await accessAccountAsOperator(service.outside, organization.realm, text(given, 'email'));
    return linkTold(service, organization, user.userId, `For ${user.email} in '${organization.name}'.`);
  },

  async 'rotate-key'(service, given) {
    const organization = await accessOrganizationOf(service.outside.table, given.org);
    const account = await renewKeyAsOperator(service.outside, organization.realm, text(given, 'email'));
    const done = `${account.email} in '${organization.name}' has a new key; the old one is out.`;
    return keyTold(service, organization, account, done);
  },

  async 'end-address'({ outside }, given) {
    const { realm, channelId, userId } = await endMailAddress(outside, text(given, 'address'));
    const whose = `the channel ${channelId} of the organization ${realm}, made for the user ${userId}`;
    return { notes: [`Mail to this address of ${whose}, is dropped from now on.`] };
  },

  async 'set-host'({ outside }, given) {
    const organization = await accessOrganizationOf(outside.table, given.org);
    const hosts = await changeHosts(outside, organization, { add: given.host, remove: given.remove });
    return { notes: [`'${organization.name}' (ID ${organization.realm}) answers at ${hosts.join(', ')}.`] };
  },

  deactivate: (service, given) => inService(service, given, false),
  reactivate: (service, given) => inService(service, given, true),

  async 'rebuild-search'({ outside }, given) {
    const organization = await accessOrganizationOf(outside.table, given.org);
    await voidIndex(outside, organization.realm);
    const begins = 'The worker begins with the next search, or within an hour.';
    return { notes: [`The search index of '${organization.name}' will be rebuilt. ${begins}`] };
  },

  async migrate({ outside }, given, tell) {
    const { table } = outside;
    const organizations =
      given.org === undefined
        ? await loadOrganizations(table)
        : [await accessOrganizationOf(table, given.org)];
    await migrateOrganizations(outside, organizations, tell);
    return { notes: [] };
  },
};

/** Takes an organization out of service, or puts it back. */
async function inService({ outside }: ReachedService, given: Given, isInService: boolean): Promise<Told> {
  const { name, realm } = await accessOrganizationOf(outside.table, given.org);
  const state = isInService ? 'in service' : 'out of service';
  const isChanged = await setInService(outside, realm, isInService);
  return { notes: [`'${name}' (ID ${realm}) is ${state}${isChanged ? '' : ' already'}.`] };
}

function roleNamed(name: string): Role {
  if (Object.hasOwn(roles, name)) return roles[name as keyof typeof roles];
  throw new UsageProblem(`--role must be one of ${Object.keys(roles).join(', ')}, and not '${name}'.`);
}

/** How the owner of a new account gets in: with a key in a file, or by a link. */
const letIn = (
  service: ReachedService,
  organization: Pick<Organization, 'realm' | 'hosts'>,
  account: KeyedAccount,
  done: string,
  { out }: Given,
): Told | Promise<Told> =>
  out === undefined
    ? linkTold(service, organization, account.userId, done)
    : keyTold(service, organization, account, done);

/** The configuration of a client with the new key, which is shown nowhere else. */
function keyTold(
  service: ReachedService,
  organization: Pick<Hosts, 'hosts'>,
  account: KeyedAccount,
  done: string,
): Told {
  const { address, notes } = placeOf(service, organization);
  return {
    result: clientConfiguration(account.email, account.apiKey, address.origin),
    notes: [done, 'The key is told this once; rotate-key makes another.', ...notes],
  };
}

/** A link with which a user sets the password of their account. */
async function linkTold(
  service: ReachedService,
  organization: Pick<Organization, 'realm' | 'hosts'>,
  userId: number,
  done: string,
): Promise<Told> {
  const { address, notes } = placeOf(service, organization);
  const token = await makePasswordLink(service.outside, organization.realm, userId);
  return {
    result: `${linkAddress(address.origin, 'password', token)}\n`,
    notes: [done, 'The link sets the password, once, within a day; password-link makes another.', ...notes],
  };
}

/** Where the clients of an organization find it, and a note if programs of this machine do not. */
function placeOf({ site, isLocal }: ReachedService, organization: Pick<Hosts, 'hosts'>) {
  if (site === undefined) throw new Error('nobody said where the service is');
  const address = addressOf(organization, site);
  const isElsewhere = isLocal && address.host !== site.host;
  return { address, notes: isElsewhere ? [leadHere(address.hostname)] : [] };
}

/** What it takes for clients of this machine to find a service on it under this name. */
function leadHere(host: string): string {
  const line = `the line "127.0.0.1 ${host}" in /etc/hosts`;
  return host.endsWith('.localhost')
    ? `curl and browsers find ${host} by themselves; other programs may need ${line}.`
    : `Programs find ${host} here with ${line}.`;
}

const createdAt = ({ created }: Organization): string => new Date(1000 * created).toISOString();

const listed = (organization: Organization) => ({
  id: organization.realm,
  name: organization.name,
  hosts: organization.hosts,
  created: createdAt(organization),
  deactivated: organization.deactivated,
});

/** A table with a line for each organization. */
function listText(organizations: readonly Organization[]): string {
  const rows = organizations.map((organization) => [
    organization.realm,
    organization.name,
    createdAt(organization).slice(0, 10),
    organization.hosts.join(', '),
    ...(organization.deactivated ? ['deactivated'] : []),
  ]);
  const all = [['ID', 'NAME', 'CREATED', 'HOSTS'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
