import { badRequest, Refusal } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { emojiCode } from '../../markdown/emoji-table.ts';
import type { Emoji, EmojiKey, ReactionType } from './reaction.ts';

/** The one emoji of the kind `zulip_extra_emoji`. */
const EXTRA = 'zulip';

/** Longest name of an emoji that is looked up. */
const LONGEST_NAME = 100;

/** An emoji as a client names it. */
export interface EmojiParameters {
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: ReactionType;
}

/** The name as a pointer to the organization's own emoji, which wins over a built-in one. */
export const emojiLookupKeys = ({
  emoji_name: name,
}: Pick<EmojiParameters, 'emoji_name'>): LookupKey<'emojiName'>[] =>
  name !== undefined && name !== '' && name.length <= LONGEST_NAME ? [{ kind: 'emojiName', name }] : [];

/** The id of the organization's active emoji of the given name. */
function ownEmojiId(given: EmojiParameters, resolved: Resolved): number | undefined {
  const [pointer] = emojiLookupKeys(given);
  return pointer && resolved.follow(pointer)?.emojiId;
}

/** The emoji that a name means: the organization's own, Zulip's own, or a built-in one. */
function emojiNamed(given: EmojiParameters & { readonly emoji_name: string }, resolved: Resolved): Emoji {
  const { emoji_name: name } = given;
  const own = ownEmojiId(given, resolved);
  if (own !== undefined) return { type: 'realm_emoji', code: `${own}`, name };
  if (name === EXTRA) return { type: 'zulip_extra_emoji', code: EXTRA, name };
  const code = emojiCode(name);
  if (code === undefined) {
    throw badRequest(`There is no emoji named '${name.slice(0, LONGEST_NAME)}'.`);
  }
  return { type: 'unicode_emoji', code, name };
}

/** The emoji to react with, as it was named: what is not said of it follows from its name. */
export function emojiToAdd(
  given: EmojiParameters & { readonly emoji_name: string },
  resolved: Resolved,
): Emoji {
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (code !== undefined && type !== undefined) return { type, code, name };
  const meant = emojiNamed(given, resolved);
  return { type: type ?? meant.type, code: code ?? meant.code, name };
}

/** The emoji whose reaction goes: a code is enough, so that one can go whose emoji was deactivated since. */
export function emojiToRemove(given: EmojiParameters, resolved: Resolved): EmojiKey {
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (code !== undefined) return { type: type ?? 'unicode_emoji', code };
  if (name === undefined) throw badRequest("Send 'emoji_name' or 'emoji_code'.");
  return emojiNamed({ ...given, emoji_name: name }, resolved);
}

/** Decides that there is such an emoji now, and that its name, its code and its kind go together. */
export function checkEmoji({ name, code, type }: Emoji, resolved: Resolved): void {
  const isRight = {
    unicode_emoji: () => emojiCode(name) === code,
    realm_emoji: () => `${ownEmojiId({ emoji_name: name }, resolved)}` === code,
    zulip_extra_emoji: () => name === EXTRA && code === EXTRA,
  }[type];
  if (!isRight()) throw badRequest('There is no active emoji with this name, code and type.');
}

/**
 * The emoji as far as it can be told before it is known whether the caller may see the message: a refusal waits until
 * then, so that it does not tell that the message exists.
 */
export function emojiIfValid(emoji: () => EmojiKey): EmojiKey | undefined {
  try {
    return emoji();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
