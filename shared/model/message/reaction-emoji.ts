import { badRequest, Refusal } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { emojiCode } from '../../markdown/emoji-table.ts';
import type { Emoji, EmojiKey, ReactionType } from './reaction.ts';

/** The one emoji of the kind `zulip_extra_emoji`. */
const EXTRA = 'zulip';

/** Longer names are not looked up. */
const LONGEST_NAME = 100;

/** The parameters that identify an emoji. */
export interface EmojiParameters {
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: ReactionType;
}

/** The lookup key of a custom emoji, which overrides a built-in one of the same name. */
export const emojiLookupKeys = ({
  emoji_name: name,
}: Pick<EmojiParameters, 'emoji_name'>): LookupKey<'emojiName'>[] =>
  name !== undefined && name !== '' && name.length <= LONGEST_NAME ? [{ kind: 'emojiName', name }] : [];

/** The id of the active custom emoji with this name. */
function ownEmojiId(given: EmojiParameters, resolved: Resolved): number | undefined {
  const [lookupKey] = emojiLookupKeys(given);
  return lookupKey && resolved.follow(lookupKey)?.emojiId;
}

/** The emoji with this name: a custom one, Zulip's own, or a built-in one. */
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

/** The emoji of a new reaction. Its name determines what the parameters leave out. */
export function emojiToAdd(
  given: EmojiParameters & { readonly emoji_name: string },
  resolved: Resolved,
): Emoji {
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (code !== undefined && type !== undefined) return { type, code, name };
  const named = emojiNamed(given, resolved);
  return { type: type ?? named.type, code: code ?? named.code, name };
}

/** The emoji of a reaction to remove. A code is enough, since the emoji may be deactivated. */
export function emojiToRemove(given: EmojiParameters, resolved: Resolved): EmojiKey {
  const { emoji_name: name, emoji_code: code, reaction_type: type } = given;
  if (code !== undefined) return { type: type ?? 'unicode_emoji', code };
  if (name === undefined) throw badRequest("Send 'emoji_name' or 'emoji_code'.");
  return emojiNamed({ ...given, emoji_name: name }, resolved);
}

/** Refuses an emoji that is not active, or whose name, code and type do not match. */
export function checkEmoji({ name, code, type }: Emoji, resolved: Resolved): void {
  const isMatch = {
    unicode_emoji: () => emojiCode(name) === code,
    realm_emoji: () => `${ownEmojiId({ emoji_name: name }, resolved)}` === code,
    zulip_extra_emoji: () => name === EXTRA && code === EXTRA,
  }[type];
  if (!isMatch()) throw badRequest('There is no active emoji with this name, code and type.');
}

/** The emoji, or undefined if it is invalid. That is refused only once the caller may see the message, to hide others. */
export function emojiIfValid(emoji: () => EmojiKey): EmojiKey | undefined {
  try {
    return emoji();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
