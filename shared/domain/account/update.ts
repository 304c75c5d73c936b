import { fullNameKey, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { Step } from '../../log/bulk.ts';
import { personEvent } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkManages, loadBotOwner } from '../../model/user/management.ts';
import {
  checkBotName,
  checkFullName,
  loadNamesakes,
  type Namesakes,
  nameWrite,
  unnameWrite,
} from '../../model/user/name.ts';
import {
  loadTarget,
  noSuchUser,
  ownerIdOf,
  targetLookupKeys,
  userIdOf,
} from '../../model/user/principals.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { checkRoleChange, doChangeRole, loadRoleSnapshot } from './role.ts';

/**
 * Renames an account, for mentions too. The caller adds `set` to the write of the account, on condition that the name
 * is unchanged. `namesakes` as in `nameWrite`.
 */
export function doRename(
  realm: string,
  { userId, fullName: before }: User,
  fullName: string,
  namesakes?: Namesakes,
) {
  // Names that differ only in case have the same key.
  const isOtherKey = folded(before) !== folded(fullName);
  return {
    set: { fullName },
    writes: isOtherKey
      ? [nameWrite(realm, fullName, userId, namesakes), unnameWrite(realm, before, userId)]
      : [],
    entries: [personEvent(userId, { full_name: fullName })],
  };
}

/** The changes that a request makes to an account. */
export interface UserUpdateInput {
  readonly full_name?: string;
  readonly role?: number;
}

/** The account and the new name as lookup keys. Throws a refusal for an invalid name. */
export const updateLookupKeys = (user: string, input: UserUpdateInput): LookupKey[] => [
  ...targetLookupKeys(user),
  ...nameLookupKeys(input),
];

const nameLookupKeys = ({ full_name: name }: UserUpdateInput): LookupKey<'fullName'>[] =>
  name === undefined ? [] : [fullNameKey(checkFullName(name))];

/**
 * Loads the snapshot for the account in the path, after the lookup of `updateLookupKeys`: the account, its owner if it is
 * a bot, what a change of the role needs, and the users with the new name. One round trip.
 */
export async function loadUserUpdate(
  outside: Outside,
  resolved: Resolved,
  user: string,
  input: UserUpdateInput,
) {
  const userId = userIdOf(user, resolved);
  const { realm } = resolved;
  const [name] = nameLookupKeys(input);
  const [target, owner, role, namesakes] = await Promise.all([
    loadTarget(outside.table, user, resolved),
    loadBotOwner(outside.table, realm, { ownerId: ownerIdOf(user, resolved) }),
    userId === undefined || input.role === undefined ? undefined : loadRoleSnapshot(outside, realm, userId),
    name && loadNamesakes(outside.table, realm, resolved.follow(name)?.users),
  ]);
  return { target, owner, role, namesakes };
}

type UserUpdateSnapshot = Awaited<ReturnType<typeof loadUserUpdate>>;

/** Checks a new name and a new role. Unchanged ones are undefined in the result. */
export function checkUserUpdate(
  caller: Pick<Caller, 'user' | 'standing'>,
  { target, owner, role: snapshot, namesakes }: UserUpdateSnapshot,
  input: UserUpdateInput,
) {
  if (target === undefined || isSystemBot(target)) throw noSuchUser();
  checkManages(caller, target, owner);
  const fullName = input.full_name === undefined ? target.fullName : checkFullName(input.full_name);
  const role =
    input.role === undefined ? target.role : checkRoleChange(caller, target, input.role, snapshot?.owners);
  if (target.isBot && target.isActive && fullName !== target.fullName && namesakes) {
    checkBotName(fullName, namesakes);
  }
  return {
    target,
    fullName: fullName === target.fullName ? undefined : fullName,
    role: role === target.role ? undefined : role,
  };
}

/**
 * Changes an account, on condition that it is unchanged since it was read. `now` is in milliseconds. No steps if nothing
 * changes.
 */
export function doUpdateUser(
  caller: Pick<Caller, 'realmId' | 'realm' | 'graph'>,
  { target, fullName, role }: ReturnType<typeof checkUserUpdate>,
  { role: snapshot, namesakes }: UserUpdateSnapshot,
  now: number,
): Step[] {
  const { userId, isActive } = target;
  const changed =
    role === undefined || snapshot === undefined
      ? undefined
      : doChangeRole(caller, target, role, snapshot, now);
  const parts = [
    ...(changed ? [changed] : []),
    ...(fullName === undefined
      ? []
      : [doRename(caller.realmId, target, fullName, target.isBot ? namesakes : undefined)]),
  ];
  if (parts.length === 0) return [];
  const step: Step = {
    writes: [
      {
        update: key('user', { realm: caller.realmId, userId }),
        change: { set: Object.assign({}, ...parts.map(({ set }) => set)) },
        when: { equals: { isActive, role: target.role, fullName: target.fullName } },
        lastWriterWins: true,
      },
      ...parts.flatMap(({ writes }) => writes),
    ],
    entries: parts.flatMap(({ entries }) => entries),
  };
  return [step, ...(changed?.after ?? [])];
}
