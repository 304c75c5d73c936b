import type { Message } from '../../log/message.ts';
import type { Reader } from '../reader/reader.ts';
import { Judge } from '../search/judge.ts';
import { parseQuery } from '../search/query.ts';
import { escaped } from '../search/words.ts';
import { searchIn, type Term } from './narrow.ts';

/** A message as a client shows it in the results of a narrow: HTML. */
export interface MatchFields {
  readonly match_content: string;
  readonly match_subject: string;
}

/** The rendered text of a message and its topic as HTML, in which what a search found is marked (companion facts 1.15). */
export const matchFields = (
  { rendered, topic = '' }: Pick<Message, 'rendered' | 'topic'>,
  search: Judge | undefined,
): MatchFields => ({
  match_content: search ? search.highlight(rendered) : rendered,
  match_subject: search ? search.highlight(escaped(topic)) : escaped(topic),
});

/** What the search of a narrow found is marked by this; undefined if it has none. */
export function searchOf(terms: readonly Term[]): Judge | undefined {
  const text = searchIn(terms);
  return text === undefined ? undefined : new Judge(parseQuery(text));
}

/** Adds the fields to the messages of a reply, if the narrow has a search. */
export async function addMatches<M extends { readonly id: number; readonly subject: string }>(
  reader: Reader,
  terms: readonly Term[],
  messages: readonly M[],
): Promise<readonly (M & Partial<MatchFields>)[]> {
  const search = searchOf(terms);
  if (search === undefined) return messages;
  return Promise.all(
    messages.map(async (message) => {
      const { rendered = '' } = (await reader.message(message.id)) ?? {};
      return { ...message, ...matchFields({ rendered, topic: message.subject }, search) };
    }),
  );
}
