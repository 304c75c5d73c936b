import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import { type OutboxRun, REMEMBERED } from '../outbox/outbox.ts';
import { type DirectNotice, sendDirectNotices } from '../send/direct-notice.ts';
import { noticeReferences, silentMention } from '../send/notice.ts';
import { jobToken } from '../send/send.ts';

/** Somebody joined by an invitation. */
interface JoinedTask {
  readonly userId: number;
  /** The inviter, who gets a message about it. */
  readonly notify?: number;
  /** The message that the inviter left for the new person, in Markdown. */
  readonly welcome?: string;
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    joined: JoinedTask;
  }
}

/** Sends the messages about a new person: the welcome of the inviter, and the news to the inviter. */
export async function sendWelcome(
  { outside, log, realmId, realm: { noticeBotId } }: OutboxRun,
  { job, userId, notify, welcome }: JoinedTask & { readonly job: string },
): Promise<void> {
  const user = await outside.table.get('user', { realm: realmId, userId });
  if (user === undefined) return;
  const notices: DirectNotice[] = [];
  const add = (to: number, content: string, rendered: DirectNotice['rendered']): void => {
    notices.push({ to, content, rendered, token: jobToken(job, String(to), REMEMBERED) });
  };
  if (welcome !== undefined) add(userId, welcome, render(welcome, NOTHING_RESOLVED));
  if (notify !== undefined) {
    const content = `${silentMention(user)} accepted your invitation.`;
    add(notify, content, render(content, noticeReferences(user, [])));
  }
  await sendDirectNotices(outside, log, noticeBotId, notices);
}
