import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { hasAlertWord } from '../../model/message/alert-word.ts';
import { allReactions } from '../../model/message/reaction.ts';
import type { Reader } from '../reader/reader.ts';
import { Judge } from '../search/judge.ts';
import { parseQuery } from '../search/query.ts';
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
  const judge = searchesOf(conditions);
  const verdicts = new Map<number, boolean>();
  const needsWord = conditions.some(({ kind, negated }) => kind === 'is' && !negated);
  return async (heads) => {
    // Without alert words no text has to be read.
    if (needsWord && !(await reader.self()).alertWords?.length) return new Set();
    const open = heads.filter(({ id }) => !verdicts.has(id));
    if (open.length > 0) {
      const { messages } = await loadWithContext(reader, open);
      const found = judge(messages.filter((message) => message !== undefined));
      for (const [i, message] of messages.entries()) {
        const isMatch =
          message !== undefined && found.has(message) && (await meetsAll(reader, conditions, message));
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
  for (const term of conditions) {
    if (term.kind === 'has' && (await has[term.part](message, reader)) === term.negated) return false;
    if (term.kind === 'is' && hasAlertWord(await reader.self(), message) === term.negated) return false;
  }
  return true;
}

/** The test of the searches among the conditions. */
function searchesOf(
  conditions: readonly TextTerm[],
): (messages: readonly MessageSlot[]) => ReadonlySet<MessageSlot> {
  const judges = conditions.flatMap((term) =>
    term.kind === 'search' ? [{ judge: new Judge(parseQuery(term.text)), negated: term.negated }] : [],
  );
  return (messages) => {
    let left = messages;
    for (const { judge, negated } of judges) {
      const matching = new Set(judge.matching(left));
      left = left.filter((message) => matching.has(message) !== negated);
    }
    return new Set(left);
  };
}

/** A link as the renderer writes it. Links to channels, topics and messages have a class before their target. */
const LINK = /<a href="/;
const IMAGE =
  /<a href="[^"?#]*\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?)(?:[?#][^"]*)?"|<img [^>]*data-original-dimensions=/i;

const has: {
  readonly [P in Part]: (message: MessageSlot, reader: Reader) => boolean | Promise<boolean>;
} = {
  link: ({ rendered }) => LINK.test(rendered),
  image: ({ rendered }) => IMAGE.test(rendered),
  attachment: ({ files = [] }) => files.length > 0,
  reaction: async (message, reader) => allReactions(message, await reader.reactions(message.id)).length > 0,
};
