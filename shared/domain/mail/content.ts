import { codePoints, firstCodePoints, unprintableAt } from '../../kernel/text.ts';
import { effectiveTopicsPolicy } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { checkTopic, contentWithin } from '../../model/message/message.ts';
import { limits, type RealmSettings } from '../../model/realm/realm.ts';
import { inlineCode } from '../send/notice.ts';
import { type Mail, textOfHtml } from './mail.ts';
import type { Options } from './recipient.ts';
import { bodyOf, withoutElements, withoutLeadingQuote, withoutSignature } from './text.ts';

/** The content of a message for mail without text. */
const NO_TEXT = '(This mail has no text.)';

/** Attachments listed by name. The rest are only counted. */
const MAX_NAMED = 20;

/** Longest sender or file name that is shown, in code points. */
const MAX_NAME_LENGTH = 200;

/**
 * Renders a mail as message content: the sender if the address says so, the subject if the topic does not hold it, the
 * text, and the names of the attachments. It is never longer than a message may be.
 */
export async function contentOf(mail: Mail, options: Options, topic: string): Promise<string> {
  const subject = bareSubject(mail.subject);
  const head = [
    ...(options.showSender && mail.from !== '' ? [`**From:** ${shown(mail.from)}`] : []),
    ...(topic === '' && subject !== '' ? [`**Subject:** ${shown(subject)}`] : []),
  ].join('\n');
  const files = attachmentList(mail.files);
  const around = [head, files].filter((part) => part !== '');
  const room = limits.message - around.reduce((sum, part) => sum + codePoints(part) + 2, 0);
  const said = contentWithin(await textOf(mail, options), room);
  return [head, said === '' ? NO_TEXT : said, files].filter((part) => part !== '').join('\n\n');
}

/** External text on one line, with Markdown escaped. */
const shown = (text: string): string =>
  inlineCode(firstCodePoints(text.replace(/\s+/g, ' ').trim(), MAX_NAME_LENGTH));

function attachmentList(files: readonly string[]): string {
  if (files.length === 0) return '';
  const names = files.slice(0, MAX_NAMED).map(shown);
  const more = files.length - names.length;
  return `**Attachments:** ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The text of the mail without quotes and signature. If nothing would remain, the whole text. */
async function textOf(mail: Mail, options: Options): Promise<string> {
  const isHtml = mail.html !== '' && (options.preferHtml || mail.text.trim() === '');
  const withQuotes = options.includeQuotes || isForwarded(mail.subject);
  const whole = isHtml ? await textOfHtml(mail.html) : mail.text;
  const unquoted = isHtml && !withQuotes ? await textOfHtml(withoutElements(mail.html, 'blockquote')) : whole;
  const { own, quoted } = bodyOf(unquoted);
  const signed = withQuotes ? own : withoutLeadingQuote(own);
  const said = options.includeFooter ? signed : withoutSignature(signed);
  const kept = withQuotes && quoted !== '' ? `${said}\n\n${quoted}` : said;
  return kept.trim() === '' ? whole : kept;
}

/** Prefixes of the subjects of replies and forwarded mail, in the most common languages. */
const PREFIXES = /^(?:(?:re|aw|antw|sv|fwd?|wg)(?:\[\d+\])?\s*:\s*)+/i;
const FORWARDS = /^(?:(?:re|aw|antw|sv)(?:\[\d+\])?\s*:\s*)*(?:fwd?|wg)(?:\[\d+\])?\s*:/i;

/** Code points of a subject that are read. A topic is shorter, and a header may be very long. */
const MAX_SUBJECT_LENGTH = 1_000;

/** The topic of mail without a subject, where topics must have a name. */
const NO_SUBJECT = 'Mail without a subject';

/** Whether the mail was forwarded: then its quotes are the content. */
const isForwarded = (subject: string): boolean => FORWARDS.test(subject.trim());

/** The subject on one line, without reply prefixes and unprintable characters. */
function bareSubject(subject: string): string {
  const line = firstCodePoints(subject, MAX_SUBJECT_LENGTH).replace(/\s+/g, ' ').trim();
  const shown = [...line].filter((point) => unprintableAt(point) === undefined).join('');
  return shown.replace(PREFIXES, '').trim();
}

/** The topic for a mail: its subject, if the channel allows named topics (specification 3). */
export function topicOf(subject: string, channel: Channel, settings: RealmSettings): string {
  const policy = effectiveTopicsPolicy(channel, settings);
  if (policy === 'empty_topic_only') return '';
  const topic = checkTopic(bareSubject(subject));
  return topic === '' && policy === 'disable_empty_topic' ? NO_SUBJECT : topic;
}
