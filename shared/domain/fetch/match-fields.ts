import type { Message } from '../../log/message.ts';

/** A message as a client shows it in the results of a narrow: HTML. */
export interface MatchFields {
  readonly match_content: string;
  readonly match_subject: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The rendered text of a message, and its topic as HTML (companion facts 1.15). */
export const matchFields = ({ rendered, topic = '' }: Pick<Message, 'rendered' | 'topic'>): MatchFields => ({
  match_content: rendered,
  match_subject: topic.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? ''),
});
