import { badRequest } from '../../kernel/errors.ts';
import { realmIdFor } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { carryOutUnchanged } from '../../log/carry-out.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { roles } from '../../model/permission/permission.ts';
import { ANY_HOST, checkHost, loadOrganization, type Organization } from '../../model/realm/hosts.ts';
import { checkEmail, checkFullName } from '../../model/user/name.ts';
import type { KeyedAccount } from '../account/operator.ts';
import { checkOrganizationName } from '../realm-edit/check.ts';
import { GENERAL, NOTICES, planFounding } from './founding.ts';

/** The parameters of a new organization. */
export interface OrganizationInput {
  readonly name: string;
  readonly ownerEmail: string;
  /** Default: the local part of the address. */
  readonly ownerName?: string | undefined;
  /** Required for every organization but the first. */
  readonly host?: string | undefined;
  /** The owner gets no key: the operator hands on a link for the first password. */
  readonly isOwnerKeyless?: boolean;
}

/** A new organization, and its owner with the key. */
export interface CreatedOrganization extends Pick<Organization, 'realm' | 'hosts' | 'name'> {
  readonly owner: KeyedAccount;
}

/**
 * Creates an organization with one owner and one channel, in one transaction. The first one is the default: it also
 * answers at all unregistered hosts. Every other needs its own host.
 *
 * The key of the owner, or the link, is shown once. If it is lost, a second call is refused with a hint how to get another.
 */
export async function createOrganization(
  outside: Outside,
  input: OrganizationInput,
): Promise<CreatedOrganization> {
  const name = checkOrganizationName(input.name);
  const host = input.host === undefined ? undefined : checkHost(input.host);
  const owner = checkOwner(input);
  return retryOnConflict(outside, async () => {
    const isDefault = await checkRoom(outside, host, owner.email);
    const given = { name, host, isDefault };
    const { realm, hosts, accounts, writes } = planFounding(outside, given, [owner], [GENERAL]);
    await carryOutUnchanged(outside, writes);
    return { realm, hosts, name, owner: accounts[0] as KeyedAccount };
  });
}

/** Checks the owner, who must not be mistaken for the system bot. */
function checkOwner({ ownerEmail, ownerName, isOwnerKeyless = false }: OrganizationInput) {
  const email = checkEmail(ownerEmail);
  const fullName = checkFullName(ownerName ?? email.slice(0, email.lastIndexOf('@')));
  if (folded(email) === folded(NOTICES.email) || folded(fullName) === folded(NOTICES.fullName)) {
    throw badRequest('The owner cannot have the name or address of the notification bot.');
  }
  return { email, fullName, role: roles.owner, isKeyless: isOwnerKeyless };
}

/** Whether a new organization is the default one. Refuses if its host or id is taken. */
async function checkRoom(outside: Outside, host: string | undefined, email: string): Promise<boolean> {
  const { table } = outside;
  const leads = (to: string) => table.get('host', { host: to });
  const [fallback, own, namesake] = await Promise.all([
    leads(ANY_HOST),
    host === undefined ? undefined : leads(host),
    host === undefined ? undefined : loadOrganization(table, realmIdFor(host)),
  ]);
  if (own) throw badRequest(`'${host}' leads to ${await described(outside, own.realm, email)}.`);
  if (fallback === undefined) return true;
  if (host === undefined) {
    const there = await described(outside, fallback.realm, email);
    throw badRequest(`Every organization but the first needs a host; this service has ${there}.`);
  }
  // A concurrent creation at this host makes the write fail.
  if (namesake && !namesake.hosts.includes(host)) {
    throw badRequest(
      `'${host}' is the ID of the organization '${namesake.name}', which has moved: make the new one at another host, then attach this one to it.`,
    );
  }
  return false;
}

/** Describes the existing organization, with a hint if the key was lost. */
async function described({ table }: Outside, realm: string, email: string): Promise<string> {
  const [organization, account] = await Promise.all([
    loadOrganization(table, realm),
    table.get('account', { realm, email: folded(email) }),
  ]);
  const there = `the organization '${organization?.name}' (ID ${realm}) already`;
  return account
    ? `${there}, where '${email}' has an account: password-link makes a link for a password, rotate-key a new key`
    : there;
}
