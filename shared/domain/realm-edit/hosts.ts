import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError, retryOnConflict } from '../../log/commit.ts';
import {
  checkHost,
  type Hosts,
  hostsWrite,
  loadOrganization,
  type Organization,
} from '../../model/realm/hosts.ts';
import { key } from '../../table/keys.ts';

/** Hosts to attach and to remove, as the operator typed them. */
export interface HostChange {
  readonly add?: string | undefined;
  readonly remove?: string | undefined;
}

/** Returns the hosts after a change. An organization keeps at least one host. */
export function checkHostChange({ hosts }: Hosts, given: HostChange): readonly string[] {
  const add = given.add === undefined ? undefined : checkHost(given.add);
  const remove = given.remove === undefined ? undefined : checkHost(given.remove);
  if (remove !== undefined && !hosts.includes(remove)) {
    throw badRequest(`'${remove}' is not a host of this organization.`);
  }
  if (add !== undefined && add === remove)
    throw badRequest(`'${add}' cannot be attached and removed at once.`);
  const left = hosts.filter((host) => host !== remove);
  const after = add === undefined || left.includes(add) ? left : [...left, add];
  if (after.length === 0) {
    throw badRequest(`'${remove}' is the only host of this organization: attach another one first.`);
  }
  return after;
}

/**
 * Attaches a host, removes one, or both in one transaction. Returns the hosts.
 *
 * @throws Refusal `BAD_REQUEST` for a host of another organization
 */
export async function changeHosts(
  outside: Outside,
  { realm }: Organization,
  given: HostChange,
): Promise<readonly string[]> {
  return retryOnConflict(outside, async () => {
    const seen = await loadOrganization(outside.table, realm);
    if (seen === undefined) throw badRequest('This organization no longer exists.');
    const after = checkHostChange(seen, given);
    const added = after.filter((host) => !seen.hosts.includes(host));
    const removed = seen.hosts.filter((host) => !after.includes(host));
    if (added.length + removed.length === 0) return after;
    const outcome = await carryOut(outside, [
      hostsWrite(seen, after),
      ...added.map((host) => ({
        put: key('host', { host }),
        item: { realm },
        when: { absent: true },
      })),
      ...removed.map((host) => ({ delete: key('host', { host }), when: { equals: { realm } } })),
    ]);
    if (outcome.state === 'done') return after;
    const elsewhere = outcome.refused.some(({ index, item }) => index > 0 && item?.realm !== realm);
    if (elsewhere) throw badRequest(`'${added[0]}' already belongs to another organization.`);
    throw new ConflictError(outcome.refused.map(({ item }) => item));
  });
}
