import { firstCodePoints, unprintableAt } from '../../kernel/folding.ts';
import { effectiveTopicsPolicy } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { checkTopic } from '../../model/message/message.ts';
import type { RealmSettings } from '../../model/realm/realm.ts';

/** What programs put before the subject of an answer, and of what is passed on, in the languages most used. */
const PREFIXES = /^(?:(?:re|aw|antw|sv|fwd?|wg)(?:\[\d+\])?\s*:\s*)+/i;
const FORWARDS = /^(?:(?:re|aw|antw|sv)(?:\[\d+\])?\s*:\s*)*(?:fwd?|wg)(?:\[\d+\])?\s*:/i;

/** A topic holds less, and a header may be very long. */
const LOOKED_AT = 1_000;

/** The topic of mail without a subject where a topic must have a name. */
const NO_SUBJECT = 'Mail without a subject';

/** Whether the subject says that the mail was passed on: then what it quotes is what it is about. */
export const isForwarded = (subject: string): boolean => FORWARDS.test(subject.trim());

/** The subject without the prefixes of answers, in one line of characters that can be shown. */
export function bareSubject(subject: string): string {
  const line = firstCodePoints(subject, LOOKED_AT).replace(/\s+/g, ' ').trim();
  const shown = [...line].filter((point) => unprintableAt(point) === undefined).join('');
  return shown.replace(PREFIXES, '').trim();
}

/** The topic of mail in a channel: its subject, as far as the channel takes named topics (specification 3). */
export function topicOf(subject: string, channel: Channel, settings: RealmSettings): string {
  const policy = effectiveTopicsPolicy(channel, settings);
  if (policy === 'empty_topic_only') return '';
  const topic = checkTopic(bareSubject(subject));
  return topic === '' && policy === 'disable_empty_topic' ? NO_SUBJECT : topic;
}
