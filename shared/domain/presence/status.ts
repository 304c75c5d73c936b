import { badRequest } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { checkPrintable, codePoints } from '../../kernel/text.ts';
import type { Step } from '../../log/bulk.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import type { ReactionType } from '../../model/message/reaction.ts';
import { checkEmoji, type EmojiParameters, emojiToAdd } from '../../model/message/reaction-emoji.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    userStatus: UserStatus;
  }
}

/** A status under its wire names. Unset fields are absent. */
export interface StatusFields {
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: string;
}

/** A status as stored. A cleared status is kept for a while, so that a late write cannot restore it. */
export interface UserStatus extends StatusFields {
  readonly userId: number;
  /** The log number of the last change. */
  readonly changed: number;
}

/** In the order of replies. */
export const statusFields = ['status_text', 'emoji_name', 'emoji_code', 'reaction_type'] as const;

/** A status as clients see it: only fields that are set. A deactivated emoji stays. */
export function statusObject(status: StatusFields = {}): StatusFields {
  const shown = statusFields.filter((name) => status[name] && (status.emoji_name || name === 'status_text'));
  return Object.fromEntries(shown.map((name) => [name, status[name]]));
}

/** All statuses. One round trip. */
export async function loadStatuses(table: Table, realm: string): Promise<UserStatus[]> {
  const statuses = await table.all('userStatus', { realm });
  return statuses.filter((status) => Object.keys(statusObject(status)).length > 0);
}

/** Code points. */
const MAX_STATUS_TEXT = 60;

/** How long a cleared status is kept. */
const CLEARED_STATUS_SECONDS = 86_400;

/** The parameters. Clients clear an emoji by sending all three of its fields empty. */
interface StatusInput extends Omit<EmojiParameters, 'reaction_type'> {
  readonly status_text?: string;
  readonly reaction_type?: ReactionType | '';
}

/** Checks the changed fields; empty text clears one. */
export function checkStatus(given: StatusInput, resolved: Resolved): StatusFields {
  const text = given.status_text?.trim();
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (text !== undefined && codePoints(text) > MAX_STATUS_TEXT) {
    throw badRequest(`'status_text' is too long (at most ${MAX_STATUS_TEXT}).`);
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
    const emoji = emojiToAdd(
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

/** Sets fields of a status, on condition that it is unchanged. `now` is in seconds. Undefined if nothing changes. */
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
  const event: EventEntry = eventForEveryone({ type: 'user_status', user_id: userId, ...set });
  const isCleared = Object.keys(after).length === 0;
  return {
    writes: [
      {
        put: key('userStatus', { realm, userId }),
        item: { userId, ...after, ...(isCleared && { expires: now + CLEARED_STATUS_SECONDS }) },
        when: seen === undefined ? { absent: true } : { equals: { changed: seen.changed } },
        lastWriterWins: true,
      },
    ],
    entries: [event],
  };
}
