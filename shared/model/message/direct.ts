import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import {
  groupsOf,
  holds,
  isForEveryone,
  isSystemGroup,
  standingOf,
  systemGroups,
} from '../permission/permission.ts';
import { type Caller, directGroups } from '../user/caller.ts';
import type { User } from '../user/user.ts';
import { type AfterRemoval, removalWrites, vanishes } from './leave.ts';
import { arrivalWrite } from './topic.ts';

/** A direct conversation as stored. It exists while it has messages. */
export interface Conversation {
  readonly people: readonly number[];
  readonly maxId: number;
  /** The last message that was added below the newest one (see `Topic`). */
  readonly late?: number;
  /** How many messages were ever added, and how many removed. */
  readonly arrived: number;
  readonly left: number;
  /** Identifies the conversation on the wire: the id of its first message. */
  readonly recipientId: number;
}

/** A user's membership of a direct conversation, stored under the user. */
export interface DirectMembership {
  readonly conversation: string;
  readonly people: readonly number[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    conversation: Conversation;
    dialogue: DirectMembership;
  }
}

/** Adds a message to a direct conversation; the first one creates it. */
export function doAddToDirect(
  realm: string,
  conversation: string,
  people: readonly number[],
  messageId: number,
  exists: boolean,
): Write[] {
  const conversationKey = key('conversation', { realm, conversation });
  if (exists) return [arrivalWrite(conversationKey, messageId, { arrived: 1 })];
  const item: Conversation = { people, maxId: messageId, arrived: 1, left: 0, recipientId: messageId };
  const dialogue: DirectMembership = { conversation, people };
  return [
    { put: conversationKey, item: { ...item }, when: { absent: true } },
    ...people.map(
      (userId): Write => ({ put: key('dialogue', { realm, userId, conversation }), item: { ...dialogue } }),
    ),
  ];
}

/** Messages of a direct conversation that are deleted together. */
export interface DirectRemoval {
  readonly conversation: string;
  readonly ids: readonly number[];
}

/** Removes messages from a direct conversation, which is deleted with its last one. Conditions as for topics. */
export function doRemoveFromDirect(
  realm: string,
  { conversation, ids }: DirectRemoval,
  { seen, next }: AfterRemoval<Conversation>,
): Write[] {
  const at = key('conversation', { realm, conversation });
  if (!vanishes(seen, ids)) return removalWrites(realm, at, { conversation, ids }, { seen, next });
  return [
    { delete: at, when: { equals: { arrived: seen.arrived, left: seen.left } } },
    ...seen.people.map((userId): Write => ({ delete: key('dialogue', { realm, userId, conversation }) })),
  ];
}

/** Refuses recipients whose account is deactivated (wire facts 3.8). */
export function checkRecipients(people: readonly User[]): void {
  const inactive = people.find(({ isActive }) => !isActive);
  if (inactive !== undefined) throw badRequest(`The account '${inactive.email}' is deactivated.`);
}

/**
 * Refuses a direct message that the organization does not permit (wire facts 3.8). Bots may always send, and everybody may
 * always write to bots and to themselves. Otherwise one of the people must have the permission, and the sender of the
 * first message that to start conversations.
 *
 * Reads the recipients' groups only if a setting names groups other than those of the roles.
 */
export async function checkDirectPermission(
  outside: Outside,
  caller: Caller,
  people: readonly User[],
  isNew: boolean,
): Promise<void> {
  const { settings } = caller.realm;
  if (caller.user.isBot || people.every(({ userId, isBot }) => isBot || userId === caller.user.userId))
    return;
  const permission = settings.direct_message_permission_group;
  if (!isForEveryone(permission) && !(await someoneHolds(outside, caller, people))) {
    throw badRequest(
      permission === systemGroups.nobody.id
        ? 'Direct messages are disabled in this organization.'
        : 'This direct message is not permitted by the settings of the organization.',
    );
  }
  const initiator = settings.direct_message_initiator_group;
  if (isNew && !isForEveryone(initiator) && !holds(caller.standing, initiator)) {
    throw badRequest('You do not have permission to begin a direct conversation.');
  }
}

async function someoneHolds(outside: Outside, caller: Caller, people: readonly User[]): Promise<boolean> {
  const setting = caller.realm.settings.direct_message_permission_group;
  if (holds(caller.standing, setting)) return true;
  const others = people.filter(({ userId }) => userId !== caller.user.userId);
  const holdsWith = (user: User, groups: readonly number[]): boolean => {
    const { graph, realm } = caller;
    return holds(
      standingOf(user, groups, graph, realm.settings.waiting_period_threshold, outside.now()),
      setting,
    );
  };
  if (others.some((user) => holdsWith(user, []))) return true;
  if (groupsOf(setting).every(isSystemGroup)) return false;
  const groups = await Promise.all(others.map(({ userId }) => directGroups(outside, caller.realmId, userId)));
  return others.some((user, i) => holdsWith(user, groups[i] ?? []));
}
