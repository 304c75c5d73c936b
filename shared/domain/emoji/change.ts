import { badRequest, refusal } from '../../kernel/errors.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { bytesOf, doUseQuota } from '../../kernel/quota.ts';
import { firstCodePoints } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventForEveryone, type Payload } from '../../log/slot.ts';
import { isBuiltInEmoji } from '../../markdown/emoji-table.ts';
import { holds, isAdministrator } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { type CustomEmoji, emojiObject, type NamedEmoji } from './emoji.ts';

/** Most characters of a name. The wire facts name no limit; this one fits into a key. */
const MAX_NAME = 100;

/** Lower-case letters, digits, dashes and underscores, with a letter or a digit at the end (wire facts 11). */
const NAME = /^[a-z0-9_-]*[a-z0-9]$/;

/** Normalizes a name: trims it and replaces spaces by underscores (wire facts 11). */
export const emojiNameOf = (name: string): string => name.trim().replaceAll(' ', '_');

/** The lookup key of the active emoji with this name. A name that is too long is cut to fit and matches nothing. */
export const emojiLookupKey = (name: string): LookupKey<'emojiName'> => ({
  kind: 'emojiName',
  name: firstCodePoints(name, MAX_NAME + 1),
});

/**
 * Checks that the caller may add an emoji with this name: they have the permission, the name is valid, no active emoji
 * has it, and only administrators override a built-in emoji (wire facts 11).
 */
export function checkNewEmoji(caller: Caller, name: string, active: NamedEmoji | undefined): void {
  const { standing, realm } = caller;
  if (!holds(standing, realm.settings.can_add_custom_emoji_group)) throw refusal('insufficientPermission');
  if (name.length > MAX_NAME) throw badRequest(`An emoji name has at most ${MAX_NAME} characters.`);
  if (!NAME.test(name)) {
    throw badRequest(
      'An emoji name has only lower-case letters, digits, dashes and underscores, and ends with a letter or a digit.',
    );
  }
  if (active) throw badRequest(`There is already an emoji named '${name}'.`);
  if ((isBuiltInEmoji(name) || name === 'zulip') && !isAdministrator(standing)) {
    throw badRequest('Only organization administrators may take the name of a built-in emoji.');
  }
}

/**
 * Checks that the caller may deactivate an emoji: it is active, and they added it or are an administrator
 * (specification 4.9). A missing emoji is reported first.
 */
export function checkDeactivation(caller: Caller, emoji: CustomEmoji | undefined, name: string): CustomEmoji {
  if (!emoji || emoji.deactivated) throw refusal('emojiDoesNotExist', { name: name.slice(0, MAX_NAME) });
  if (emoji.authorId !== caller.user.userId && !isAdministrator(caller.standing)) {
    throw badRequest('Only the author of the emoji and organization administrators may deactivate it.');
  }
  return emoji;
}

/** Log numbers of a change: one event with all emoji, and one with the changed emoji for newer clients. */
export const EMOJI_EVENTS = 2;

/** The events of a change, each for the clients that can handle it (wire facts 11). */
const eventsOf = (payload: Omit<Payload, 'type'>): EventEntry[] => [
  eventForEveryone(
    { type: 'realm_emoji', op: 'update' },
    { fill: 'emoji', unless: 'individual_emoji_changes' },
  ),
  eventForEveryone({ type: 'realm_emoji', ...payload }, { given: 'individual_emoji_changes' }),
];

/** The bytes of an emoji that count towards the quota. */
export const emojiBytes = ({ name, sourceUrl, stillUrl }: Omit<CustomEmoji, 'emojiId'>): number =>
  bytesOf(name, sourceUrl, stillUrl);

/** Adds an emoji. The commit conflicts if its name was taken meanwhile. */
export function doAddEmoji(realm: string, emoji: CustomEmoji): Change<object> {
  const { emojiId, name, sourceUrl } = emoji;
  const named: NamedEmoji = { emojiId, sourceUrl };
  return {
    writes: [
      { put: key('emoji', { realm, emojiId }), item: { ...emoji } },
      { put: key('emojiName', { realm, name }), item: { ...named }, when: { absent: true } },
      ...doUseQuota(realm, 'emoji', emojiBytes(emoji)),
    ],
    entries: eventsOf({ op: 'add', emoji: emojiObject(emoji) }),
    result: {},
  };
}

/** Deactivates an emoji and frees its name. Messages and reactions that use it stay. */
export function doDeactivateEmoji(realm: string, { emojiId, name }: CustomEmoji): Change<object> {
  return {
    writes: [
      { delete: key('emojiName', { realm, name }), when: { equals: { emojiId } } },
      { update: key('emoji', { realm, emojiId }), change: { set: { deactivated: true } } },
    ],
    entries: eventsOf({ op: 'update_one', emoji_id: `${emojiId}`, data: { deactivated: true } }),
    result: {},
  };
}
