import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import type { Step } from '../../log/in-order.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { ReactionType } from '../../model/message/reaction.ts';
import { checkEmoji, type GivenEmoji, namedEmoji } from '../../model/message/reaction-emoji.ts';
import { type StatusFields, statusFields, statusObject, type UserStatus } from '../../model/user/status.ts';
import { key } from '../../table/keys.ts';

/** Longest text, in code points. */
const LONGEST = 60;

/** Seconds for which a status that was cleared is kept. */
const CLEARED = 86_400;

/** What a request sets. Clients that clear the emoji send all three of its fields empty. */
interface GivenStatus extends Omit<GivenEmoji, 'reaction_type'> {
  readonly status_text?: string;
  readonly reaction_type?: ReactionType | '';
}

/** Decides on the fields that a request changes; the empty text clears one. */
export function checkStatus(given: GivenStatus, resolved: Resolved): StatusFields {
  const text = given.status_text?.trim();
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (text !== undefined && codePoints(text) > LONGEST) {
    throw badRequest(`'status_text' is too long (at most ${LONGEST}).`);
  }
  if (text !== undefined) checkPrintable('The status', text);
  if (name === undefined && (code || type)) {
    throw badRequest("'emoji_code' and 'reaction_type' need 'emoji_name'.");
  }
  if (text === undefined && name === undefined) throw badRequest("Send 'status_text' or 'emoji_name'.");
  return { ...(text !== undefined && { status_text: text }), ...(name !== undefined && emojiFields(name)) };

  function emojiFields(emoji_name: string): StatusFields {
    if (emoji_name === '') return { emoji_name, emoji_code: '', reaction_type: 'unicode_emoji' };
    if (type === '') throw badRequest("'reaction_type' is empty only where 'emoji_name' is.");
    const emoji = namedEmoji(
      {
        emoji_name,
        ...(code !== undefined && { emoji_code: code }),
        ...(type !== undefined && { reaction_type: type }),
      },
      resolved,
    );
    checkEmoji(emoji, resolved);
    return { emoji_name, emoji_code: emoji.code, reaction_type: emoji.type };
  }
}

/**
 * Sets these fields of somebody's status, held to the one that was seen, and tells everybody which they are. `now`
 * is in seconds. Undefined where that changes nothing.
 */
export function doSetStatus(
  realm: string,
  userId: number,
  seen: UserStatus | undefined,
  set: StatusFields,
  now: number,
): Step | undefined {
  const before = statusObject(seen);
  const after = statusObject({ ...before, ...set });
  if (statusFields.every((field) => before[field] === after[field])) return undefined;
  const event: EventEntry = {
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'user_status', user_id: userId, ...set },
  };
  const isCleared = Object.keys(after).length === 0;
  return {
    writes: [
      {
        put: key('userStatus', { realm, userId }),
        item: { userId, ...after, ...(isCleared && { expires: now + CLEARED }) },
        when: seen === undefined ? { absent: true } : { equals: { changed: seen.changed } },
        lastWriterWins: true,
      },
    ],
    entries: [event],
  };
}
