import { Refusal } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { wakePush } from '../../kernel/wake-up.ts';
import { carryOut } from '../../log/carry-out.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { logOf } from '../../log/log.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import { type Caller, loadCallerWithOwner } from '../../model/user/caller.ts';
import { sendDirectNotices } from '../send/direct-notice.ts';
import { doSend, jobToken } from '../send/send.ts';
import { acceptScheduled } from './accept.ts';
import { type Due, dueKey, sendDue } from './due.ts';
import { remindOfInvitations } from './invitation.ts';
import { remind } from './reminder.ts';
import { doFail, doUnschedule, loadScheduledMessage, type ScheduledMessage } from './scheduled-message.ts';

/** A message that is later than this (ms), because the service was down, is not sent any more (companion facts 2.3). */
const TOO_LATE_MS = 600_000;

/** Seconds for which the notice about a failure is remembered: longer than its queue message can come again. */
const REMEMBERED = 21 * 86_400;

/** Does what is due. */
export function deliverDue(outside: Outside, queues: Queues, due: Due): Promise<void> {
  // The clocks of the queue and of this function may differ.
  if (due.at * 1000 > outside.now()) return sendDue(queues, due, outside.now());
  return deliverers[due.what](outside, queues, due);
}

const deliverers: Readonly<Record<Due['what'], typeof deliverDue>> = {
  message: deliverScheduled,
  reminder: remind,
  invitation: remindOfInvitations,
};

/**
 * Sends a scheduled message if it is due, with the rights that its user has now. The transaction that sends it deletes it,
 * so it is sent once, however often its queue message comes. What cannot be sent fails, and the user gets a notice.
 */
async function deliverScheduled(outside: Outside, queues: Queues, due: Due): Promise<void> {
  const { realm, userId } = due;
  await retryOnConflict(outside, async () => {
    const message = await loadScheduledMessage(outside.table, realm, userId, due.id);
    // It was sent or deleted, or it has another time by now, with a queue message of its own.
    if (message === undefined || message.deliverAt !== due.at) return;
    const caller = await loadCallerWithOwner(outside, realm, userId);
    if (caller === undefined) {
      // Nobody is there to get a notice.
      if (message.failed) await carryOut(outside, [{ delete: dueKey(due) }]);
      else await commitTo(outside, realm)(1, () => doFail(realm, userId, message, undefined));
      return;
    }
    const problem = message.failed ? message.problem : await trySending(outside, caller, message);
    if (problem === undefined) return wakePush({ caller, outside, clients: { queues } });
    if (!message.failed) await commitTo(outside, realm)(1, () => doFail(realm, userId, message, problem));
    await notify(outside, caller, due, problem);
  });
}

/** Sends the message. Returns why that is refused, if it is. */
async function trySending(
  outside: Outside,
  caller: Caller,
  message: ScheduledMessage,
): Promise<string | undefined> {
  const { realmId: realm, user } = caller;
  if (outside.now() > message.deliverAt * 1000 + TOO_LATE_MS) return 'the service was down at its time';
  try {
    const { draft, delivery } = await acceptScheduled(outside, caller, message);
    const gone = doUnschedule(realm, user.userId, message);
    const before = [...delivery.before, ...gone.entries.filter((entry) => entry.kind === 'event')];
    await commitTo(outside, realm)(before.length + 1, (numbers) => {
      const sent = doSend(realm, draft, { ...delivery, before }, numbers);
      return { ...sent, writes: [...sent.writes, ...gone.writes] };
    });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/**
 * Sends the user a direct message of the notice bot about a failure, and takes the message off what is due. A run that dies
 * before that is repeated, and the notice is sent once.
 */
async function notify(
  outside: Outside,
  { realmId: realm, realm: { noticeBotId }, user }: Caller,
  due: Due,
  problem: string,
): Promise<void> {
  const content = `The message that you scheduled was not sent. The reason: ${problem}\n\n[Scheduled messages](#scheduled)`;
  const token = jobToken(`scheduled-${due.id}`, `${due.at}`, REMEMBERED);
  await sendDirectNotices(outside, logOf(outside, realm), noticeBotId, [
    { to: user.userId, content, rendered: render(content, NOTHING_RESOLVED), token },
  ]);
  await carryOut(outside, [{ delete: dueKey(due) }]);
}
