import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import { realmIdFor } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError } from '../../log/commit.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import { roles } from '../../model/permission/permission.ts';
import { ANY_HOST, checkHost, loadOrganization, type Organization } from '../../model/realm/hosts.ts';
import { checkEmail, checkFullName } from '../../model/user/name.ts';
import type { KeyedAccount } from '../account/operator.ts';
import { checkOrganizationName } from '../realm-edit/check.ts';
import { GENERAL, NOTICES, planFounding } from './founding.ts';

/** What the operator says of a new organization. */
export interface WantedOrganization {
  readonly name: string;
  readonly ownerEmail: string;
  /** Without it, what stands before the `@` of the address. */
  readonly ownerName?: string | undefined;
  /** Needed for every organization but the first. */
  readonly host?: string | undefined;
}

/** A new organization, and its owner with the key. */
export interface Founded extends Pick<Organization, 'realm' | 'hosts' | 'name'> {
  readonly owner: KeyedAccount;
}

/**
 * Makes an organization with one owner and one channel, in one transaction. The first one of a service is its default:
 * it answers at every host that nobody registered, besides the one that was given. Every other needs a host of its
 * own. Of two that want the same, one gets it, and the other is told.
 *
 * The owner's key is told this once. Who never heard it is refused when they try again, and told how to get another.
 */
export async function createOrganization(outside: Outside, wanted: WantedOrganization): Promise<Founded> {
  const name = checkOrganizationName(wanted.name);
  const host = wanted.host === undefined ? undefined : checkHost(wanted.host);
  const owner = checkOwner(wanted);
  return retryOnConflict(outside, async () => {
    const isDefault = await checkRoom(outside, host, owner.email);
    const given = { name, host, isDefault };
    const { realm, hosts, accounts, writes } = planFounding(outside, given, [owner], [GENERAL]);
    const { state } = await carryOut(outside, writes);
    if (state === 'refused') throw new ConflictError([]);
    return { realm, hosts, name, owner: accounts[0] as KeyedAccount };
  });
}

/** Decides on the owner, who must not be taken for the service itself. */
function checkOwner({ ownerEmail, ownerName }: WantedOrganization) {
  const email = checkEmail(ownerEmail);
  const fullName = checkFullName(ownerName ?? email.slice(0, email.lastIndexOf('@')));
  if (folded(email) === folded(NOTICES.email) || folded(fullName) === folded(NOTICES.fullName)) {
    throw badRequest('The owner cannot have the name or the address of the bot that speaks for the service.');
  }
  return { email, fullName, role: roles.owner };
}

/** Whether a new organization would be the default one. Refuses where something else is in its place. */
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
  // One that is being made at this host at this moment is met by its write.
  if (namesake && !namesake.hosts.includes(host)) {
    throw badRequest(
      `'${host}' is the ID of the organization '${namesake.name}', which has moved: make the new one at another host, then attach this one to it.`,
    );
  }
  return false;
}

/** The organization that is in the way, and what somebody can do whose key got lost. */
async function described({ table }: Outside, realm: string, email: string): Promise<string> {
  const [organization, account] = await Promise.all([
    loadOrganization(table, realm),
    table.get('account', { realm, email: folded(email) }),
  ]);
  const there = `the organization '${organization?.name}' (ID ${realm}) already`;
  return account ? `${there}, where '${email}' has an account: rotate-key gives it a new key` : there;
}
