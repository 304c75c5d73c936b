import { badRequest } from '../../kernel/errors.ts';
import { codePoints, firstCodePoints } from '../../kernel/folding.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import { EMPTY_TOPIC_NAME, limits } from '../realm/realm.ts';

/** Stands at the end of a message that was cut at the limit. */
const CUT_MESSAGE = '\n[message cut at the length limit]';
const CUT_TOPIC = '...';

/** The first code points of a text that is too long, ending in a mark, so that the whole is as long as allowed. */
const cut = (text: string, limit: number, mark: string): string =>
  codePoints(text) <= limit ? text : firstCodePoints(text, limit - codePoints(mark)) + mark;

/**
 * Message content as it is stored (wire facts 3.4): white space at the end and newlines at the start go, what is
 * beyond the limit is cut. Spaces at the start stay, since they can mean a code block.
 */
export const normalizedContent = (content: string): string => contentWithin(content, limits.message);

/** The same in no more than so many code points, where something else has to stand beside it. */
export const contentWithin = (content: string, limit: number): string =>
  cut(content.trimEnd().replace(/^[\r\n]+/, ''), limit, CUT_MESSAGE);

/** Decides that normalized content says something. */
export function checkNotEmpty(content: string): void {
  if (content === '') throw badRequest('A message must not be empty.');
}

/**
 * A topic as it is stored (wire facts 3.4): trimmed, cut at the limit, and with the two names of the empty topic
 * read as the empty one. A character that cannot be shown is refused with its position.
 */
export function checkTopic(given: string): string {
  const topic = given.trim();
  checkPrintable('The topic', topic);
  const fitting = cut(topic, limits.topic, CUT_TOPIC);
  return fitting === '(no topic)' || fitting === EMPTY_TOPIC_NAME ? '' : fitting;
}

/** The same for a topic that is named and not written to: what is too long is no topic, and refused. */
export function checkTopicName(given: string): string {
  if (codePoints(given.trim()) > limits.topic) {
    throw badRequest(`A topic has at most ${limits.topic} characters.`);
  }
  return checkTopic(given);
}
