import { codePoints, firstCodePoints } from '../../kernel/folding.ts';
import { contentWithin } from '../../model/message/message.ts';
import { limits } from '../../model/realm/realm.ts';
import { inlineCode } from '../send/notice.ts';
import { type Mail, textOfHtml } from './mail.ts';
import type { Options } from './mail-recipient.ts';
import { bareSubject, isForwarded } from './mail-subject.ts';
import { bodyOf, withoutElements, withoutLeadingQuote, withoutSignature } from './mail-text.ts';

/** Says that there was nothing to read. */
const NO_TEXT = '(This mail has no text.)';

/** Files that are named one by one; the others are counted. */
const MAX_NAMED = 20;

/** Code points of a sender or of a file's name that are shown. */
const LONGEST_NAME = 200;

/**
 * Mail as the content of a message: whom it is from if that was asked for, its subject if the topic cannot tell it,
 * what was written, and the names of the files that came with it. At most as long as a message may be.
 */
export async function contentOf(mail: Mail, options: Options, topic: string): Promise<string> {
  const subject = bareSubject(mail.subject);
  const head = [
    ...(options.showSender && mail.from !== '' ? [`**From:** ${shown(mail.from)}`] : []),
    ...(topic === '' && subject !== '' ? [`**Subject:** ${shown(subject)}`] : []),
  ].join('\n');
  const files = told(mail.files);
  const around = [head, files].filter((part) => part !== '');
  const room = limits.message - around.reduce((sum, part) => sum + codePoints(part) + 2, 0);
  const said = contentWithin(await saidIn(mail, options), room);
  return [head, said === '' ? NO_TEXT : said, files].filter((part) => part !== '').join('\n\n');
}

/** Text of others in one line, without a meaning as Markdown. */
const shown = (text: string): string =>
  inlineCode(firstCodePoints(text.replace(/\s+/g, ' ').trim(), LONGEST_NAME));

function told(files: readonly string[]): string {
  if (files.length === 0) return '';
  const names = files.slice(0, MAX_NAMED).map(shown);
  const more = files.length - names.length;
  return `**Attachments:** ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What was written. Where nothing would be left of it, nothing is cut. */
async function saidIn(mail: Mail, options: Options): Promise<string> {
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
