import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { ReactionType } from '../../model/message/reaction.ts';
import { checkEmoji, type EmojiParameters, emojiToAdd } from '../../model/message/reaction-emoji.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    userStatus: UserStatus;
  }
}

/** What a user says of themselves, under the names of the wire; what they do not say is absent. */
export interface StatusFields {
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: string;
}

/** The same as stored. One that was cleared stays for a while, so that no late writer brings it back. */
export interface UserStatus extends StatusFields {
  readonly userId: number;
  /** The number under which it was changed last. */
  readonly changed: number;
}

/** The fields, in the order in which they are told. */
export const statusFields = ['status_text', 'emoji_name', 'emoji_code', 'reaction_type'] as const;

/** What is told of a status: only what is said. A deactivated emoji is still said. */
export function statusObject(status: StatusFields = {}): StatusFields {
  const said = statusFields.filter((name) => status[name] && (status.emoji_name || name === 'status_text'));
  return Object.fromEntries(said.map((name) => [name, status[name]]));
}

/** Reads what somebody says of themselves. */
export const loadStatus = (table: Table, realm: string, userId: number): Promise<UserStatus | undefined> =>
  table.get('userStatus', { realm, userId });

/** Reads what everybody says of themselves. One round trip; it costs what those cost who say something. */
export async function loadStatuses(table: Table, realm: string): Promise<UserStatus[]> {
  const statuses = await table.all('userStatus', { realm });
  return statuses.filter((status) => Object.keys(statusObject(status)).length > 0);
}

/** Longest text, in code points. */
const LONGEST = 60;

/** Seconds for which a status that was cleared is kept. */
const CLEARED = 86_400;

/** What a request sets. Clients that clear the emoji send all three of its fields empty. */
interface GivenStatus extends Omit<EmojiParameters, 'reaction_type'> {
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
