import { badRequest, refusal } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import type { LookupKey } from '../../kernel/lookup.ts';
import { bytesOf, doUseQuota } from '../../kernel/quota.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry, Payload } from '../../log/slot.ts';
import { isBuiltInEmoji } from '../../markdown/emoji-table.ts';
import { holds, isAdministrator } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import { type CustomEmoji, emojiObject, type NamedEmoji } from './emoji.ts';

/** Longest name; the wire facts know no limit, this keeps it well within a key. */
const LONGEST_NAME = 100;

/** Lower-case letters, digits, dashes and underscores, with a letter or a digit at the end (wire facts 11). */
const NAME = /^[a-z0-9_-]*[a-z0-9]$/;

/** The name as it is kept: trimmed, its spaces made underscores (wire facts 11). */
export const emojiNameOf = (given: string): string => given.trim().replaceAll(' ', '_');

/** Where the active emoji of this name is found. One that is too long leads nowhere, and fits into a key all the same. */
export const emojiLookupKey = (name: string): LookupKey<'emojiName'> => ({
  kind: 'emojiName',
  name: firstCodePoints(name, LONGEST_NAME + 1),
});

/**
 * Decides whether the caller may add an emoji of this name: they may add emoji, the name can be one, it is not taken
 * by an active one, and that of an emoji which everybody has is taken over by administrators only (wire facts 11).
 */
export function checkNewEmoji(caller: Caller, name: string, active: NamedEmoji | undefined): void {
  const { standing, realm } = caller;
  if (!holds(standing, realm.settings.can_add_custom_emoji_group)) throw refusal('insufficientPermission');
  if (name.length > LONGEST_NAME) throw badRequest(`An emoji name has at most ${LONGEST_NAME} characters.`);
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
 * Decides whether the caller may deactivate an emoji: it is active, and they added it or are an administrator
 * (specification 4.9). Whether there is one is told first.
 */
export function checkDeactivation(caller: Caller, emoji: CustomEmoji | undefined, name: string): CustomEmoji {
  if (!emoji || emoji.deactivated) throw refusal('emojiDoesNotExist', { name: name.slice(0, LONGEST_NAME) });
  if (emoji.authorId !== caller.user.userId && !isAdministrator(caller.standing)) {
    throw badRequest('Only who added the emoji and organization administrators may deactivate it.');
  }
  return emoji;
}

/** Numbers of the log that a change takes: clients are told of the one emoji, or of all of them. */
export const EMOJI_EVENTS = 2;

/** Tells of a change in the form that each client can handle (wire facts 11). */
const told = (payload: Omit<Payload, 'type'>): EventEntry[] => [
  {
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'realm_emoji', op: 'update' },
    fill: 'emoji',
    unless: 'individual_emoji_changes',
  },
  {
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'realm_emoji', ...payload },
    given: 'individual_emoji_changes',
  },
];

/** The bytes that an emoji takes of its quota. */
export const emojiBytes = ({
  name,
  sourceUrl,
  stillUrl,
}: Pick<CustomEmoji, 'name' | 'sourceUrl' | 'stillUrl'>): number => bytesOf(name, sourceUrl, stillUrl);

/** Adds an emoji that was decided on, under its name, which nobody else has taken meanwhile. */
export function doAddEmoji(realm: string, emoji: CustomEmoji): Change<object> {
  const { emojiId, name, sourceUrl } = emoji;
  const named: NamedEmoji = { emojiId, sourceUrl };
  return {
    writes: [
      { put: key('emoji', { realm, emojiId }), item: { ...emoji } },
      { put: key('emojiName', { realm, name }), item: { ...named }, when: { absent: true } },
      ...doUseQuota(realm, 'emoji', emojiBytes(emoji)),
    ],
    entries: told({ op: 'add', emoji: emojiObject(emoji) }),
    result: {},
  };
}

/** Deactivates an emoji that was decided on: its name is free again, what was said with it stays. */
export function doDeactivateEmoji(realm: string, { emojiId, name }: CustomEmoji): Change<object> {
  return {
    writes: [
      { delete: key('emojiName', { realm, name }), when: { equals: { emojiId } } },
      { update: key('emoji', { realm, emojiId }), change: { set: { deactivated: true } } },
    ],
    entries: told({ op: 'update_one', emoji_id: `${emojiId}`, data: { deactivated: true } }),
    result: {},
  };
}
