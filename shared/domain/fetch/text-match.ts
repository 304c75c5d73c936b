import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { allReactions } from '../../model/message/reaction.ts';
import type { Reader } from '../reader/reader.ts';
import type { Term } from './narrow.ts';
import { isAboutText, type Match, type TextTerm } from './narrow-match.ts';
import { loadWithContext } from './serialize.ts';
import type { Part } from './term.ts';

/**
 * The test of the conditions that texts and reactions decide; undefined if there are none. It reads each message whole, with
 * all that a reply needs of it, so that showing the message takes no further read. Messages that the reader has no access to
 * must be left out before.
 */
export function textMatchFor(reader: Reader, terms: readonly Term[]): Match | undefined {
  const conditions = terms.filter(isAboutText);
  if (conditions.length === 0) return undefined;
  const verdicts = new Map<number, boolean>();
  return async (heads) => {
    const open = heads.filter(({ id }) => !verdicts.has(id));
    if (open.length > 0) {
      const { messages } = await loadWithContext(reader, open);
      for (const [i, message] of messages.entries()) {
        const isMatch = message !== undefined && (await meetsAll(reader, conditions, message));
        verdicts.set((open[i] as MessageHead).id, isMatch);
        if (message && !isMatch) reader.release([message]);
      }
    }
    return new Set(heads.filter(({ id }) => verdicts.get(id)).map(({ id }) => id));
  };
}

async function meetsAll(
  reader: Reader,
  conditions: readonly TextTerm[],
  message: MessageSlot,
): Promise<boolean> {
  for (const { part, negated } of conditions)
    if ((await has[part](message, reader)) === negated) return false;
  return true;
}

/** A link as the renderer writes it. Links to channels, topics and messages have a class before their target. */
const LINK = /<a href="/;
const IMAGE = /<a href="[^"?#]*\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?)(?:[?#][^"]*)?"/i;

const has: {
  readonly [P in Part]: (message: MessageSlot, reader: Reader) => boolean | Promise<boolean>;
} = {
  link: ({ rendered }) => LINK.test(rendered),
  image: ({ rendered }) => IMAGE.test(rendered),
  attachment: ({ files = [] }) => files.length > 0,
  reaction: async (message, reader) => allReactions(message, await reader.reactions(message.id)).length > 0,
};
