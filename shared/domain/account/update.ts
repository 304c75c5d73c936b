import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Role } from '../../model/permission/permission.ts';
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
import type { Write } from '../../table/write.ts';
import { checkRoleChange, doChangeRole, loadRoleSnapshot, type RoleSnapshot } from './role.ts';

/**
 * Gives an account another name, for mentions too, and tells everybody. What `set` says belongs into the write of
 * the account, which must be held to the name that it had. `namesakes` as in `nameWrite`.
 */
export function doRename(
  realm: string,
  { userId, fullName: before }: User,
  fullName: string,
  namesakes?: Namesakes,
): {
  readonly set: Pick<User, 'fullName'>;
  readonly writes: readonly Write[];
  readonly entries: readonly EventEntry[];
} {
  // Another spelling of the same letters is found under the same name.
  const isFoundAnew = folded(before) !== folded(fullName);
  return {
    set: { fullName },
    writes: isFoundAnew
      ? [nameWrite(realm, fullName, userId, namesakes), unnameWrite(realm, before, userId)]
      : [],
    entries: [personEvent(userId, { full_name: fullName })],
  };
}

/** What an administrator may want of an account. */
export interface UserUpdateAsked {
  readonly full_name?: string;
  readonly role?: number;
}

/** What it is decided on. */
export interface UserUpdateSnapshot {
  readonly target: User | undefined;
  /** Whose bot it is. */
  readonly owner: User | undefined;
  /** Read where a role is asked for. */
  readonly role: RoleSnapshot | undefined;
  /** Who bears the name that is asked for. */
  readonly namesakes: Namesakes | undefined;
}

/** What is decided; what stays as it was is absent. */
export interface UserUpdate {
  readonly target: User;
  readonly fullName?: string;
  readonly role?: Role;
}

/** The account, and the name that is asked for, as lookup keys; refuses what cannot be a name. */
export const updateLookupKeys = (user: string, asked: UserUpdateAsked): LookupKey[] => [
  ...targetLookupKeys(user),
  ...nameLookupKeys(asked),
];

const nameLookupKeys = ({ full_name: name }: UserUpdateAsked): LookupKey<'fullName'>[] =>
  name === undefined ? [] : [{ kind: 'fullName', name: checkFullName(name) }];

/** Reads the snapshot for the account that a path names, after the look-up of `updateLookupKeys`. One round trip. */
export async function loadUserUpdate(
  outside: Outside,
  resolved: Resolved,
  user: string,
  asked: UserUpdateAsked,
): Promise<UserUpdateSnapshot> {
  const userId = userIdOf(user, resolved);
  if (userId === undefined) {
    return { target: undefined, owner: undefined, role: undefined, namesakes: undefined };
  }
  const { realm } = resolved;
  const [name] = nameLookupKeys(asked);
  const bearers = name && resolved.follow(name)?.users;
  const [target, owner, role, namesakes] = await Promise.all([
    loadTarget(outside.table, user, resolved),
    loadBotOwner(outside.table, realm, { ownerId: ownerIdOf(user, resolved) }),
    asked.role === undefined ? undefined : loadRoleSnapshot(outside, realm, userId),
    name && loadNamesakes(outside.table, realm, bearers),
  ]);
  return { target, owner, role, namesakes };
}

/** Decides on a new name and a new role, for somebody who manages the account (`checkManages`). */
export function checkUserUpdate(
  caller: Pick<Caller, 'user' | 'standing'>,
  { target, owner, role: snapshot, namesakes }: UserUpdateSnapshot,
  asked: UserUpdateAsked,
): UserUpdate {
  if (target === undefined || isSystemBot(target)) throw noSuchUser();
  checkManages(caller, target, owner);
  const fullName = asked.full_name === undefined ? target.fullName : checkFullName(asked.full_name);
  const role =
    asked.role === undefined ? target.role : checkRoleChange(caller, target, asked.role, snapshot?.owners);
  if (target.isBot && target.isActive && fullName !== target.fullName && namesakes) {
    checkBotName(fullName, namesakes);
  }
  return {
    target,
    ...(fullName !== target.fullName && { fullName }),
    ...(role !== target.role && { role }),
  };
}

/**
 * Changes an account, held to what was seen of it, and tells everybody; `now` is in milliseconds. Undefined where
 * nothing is different.
 */
export function doUpdateUser(
  caller: Pick<Caller, 'realmId' | 'realm' | 'graph'>,
  { target, fullName, role }: UserUpdate,
  { role: snapshot, namesakes }: UserUpdateSnapshot,
  now: number,
): Step | undefined {
  const { userId, isActive } = target;
  const parts = [
    ...(role === undefined || snapshot === undefined
      ? []
      : [doChangeRole(caller, target, role, snapshot, now)]),
    ...(fullName === undefined
      ? []
      : [doRename(caller.realmId, target, fullName, target.isBot ? namesakes : undefined)]),
  ];
  if (parts.length === 0) return undefined;
  return {
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
}
