import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/text.ts';
import type { Message } from '../../log/message.ts';
import { checkTopic, contentWithin } from '../../model/message/message.ts';
import { limits, NO_CHANNEL } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { type Left, type OutboxRun, REMEMBERED } from '../outbox/outbox.ts';
import { fenceAround, postNotice, quoteOf, silentMention } from './notice.ts';
import { jobToken } from './send.ts';

/** The kinds of reports, with their names for clients (companion facts 1.10). */
export const reportTypes = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violation of community norms',
  other: 'Other reason',
} as const;

export type ReportType = keyof typeof reportTypes;

/** Most code points of the description of a report. */
const MAX_DESCRIPTION = 1_000;

/** Most code points of the reported message in the notice: the rest of it has room for the description, names and links. */
const MAX_QUOTE = limits.message - MAX_DESCRIPTION - 500;

/** A report that passed the checks of its parameters. */
export interface Report {
  readonly type: ReportType;
  readonly description: string;
}

/** The job to post the notice about a report, with the message as it was when it was reported. */
interface ReportTask extends Report {
  readonly reporterId: number;
  readonly message: Pick<Message, 'id' | 'senderId' | 'channelId' | 'topic' | 'content'>;
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    report: ReportTask;
  }
}

/** Checks the parameters of a report. Throws `BAD_REQUEST`. */
export function parseReport(type: ReportType, given = ''): Report {
  const description = given.trim();
  if (codePoints(given) > MAX_DESCRIPTION) {
    throw badRequest(`'description' has at most ${MAX_DESCRIPTION} characters.`);
  }
  if (type === 'other' && description === '') {
    throw badRequest("A report for another reason needs a 'description'.");
  }
  return { type, description };
}

/** Refuses reports in an organization that has no channel for them. */
export function checkTakesReports({ realm }: Pick<Caller, 'realm'>): void {
  if (realm.settings.moderation_request_channel_id === NO_CHANNEL) {
    throw badRequest('This organization does not take reports of messages.');
  }
}

/** What the outbox has to know of a report. */
export const reportTask = (
  reporterId: number,
  report: Report,
  { id, senderId, channelId, topic, content }: Message,
): ReportTask => ({
  ...report,
  reporterId,
  message: {
    id,
    senderId,
    content,
    ...(channelId !== undefined && { channelId }),
    ...(topic !== undefined && { topic }),
  },
});

/**
 * Posts the notice about a report in the channel for moderators, once per job, in a topic of the reported user. Posts
 * nothing if there is no such channel any more.
 */
export async function postReport(
  { outside, log, realmId: realm, realm: { noticeBotId, settings } }: OutboxRun,
  { job, reporterId, message, type, description }: ReportTask & Pick<Left, 'job'>,
): Promise<void> {
  const { table } = outside;
  const { channelId } = message;
  const moderationId = settings.moderation_request_channel_id;
  if (moderationId === NO_CHANNEL) return;
  const [reporter, reported, moderation, source] = await Promise.all([
    table.get('user', { realm, userId: reporterId }),
    table.get('user', { realm, userId: message.senderId }),
    table.get('channel', { realm, channelId: moderationId }),
    channelId === undefined ? undefined : table.get('channel', { realm, channelId }),
  ]);
  if (reporter === undefined || reported === undefined || moderation === undefined) return;
  const where = source === undefined ? 'a direct message' : 'a message';
  const link = source === undefined ? '' : ` (#**${source.name}>${message.topic ?? ''}@${message.id}**)`;
  const content = [
    `${silentMention(reporter)} reported ${where} of ${silentMention(reported)}${link}.`,
    `Reason: **${reportTypes[type]}**`,
    ...(description === '' ? [] : [description.replaceAll(/^/gm, '> ')]),
    quoted(message.content, reported),
  ].join('\n\n');
  const isEmpty = moderation.topicsPolicy === 'empty_topic_only';
  const topic = isEmpty ? '' : checkTopic(`${reported.fullName}: moderation requests`);
  await postNotice(
    outside,
    log,
    { actor: reporter, noticeBotId },
    {
      place: { channel: moderation, topic },
      content,
      channels: source ? [source] : [],
      others: [reported],
    },
    jobToken(job, 'report', REMEMBERED),
    true,
  );
}

/** A message behind a spoiler, as a quote, whose mentions are silent. */
function quoted(content: string, { fullName }: User): string {
  const fence = fenceAround(content);
  const quote = quoteOf(contentWithin(content, MAX_QUOTE), fence);
  return [`${fence}spoiler The message of ${fullName}`, quote, fence].join('\n');
}
