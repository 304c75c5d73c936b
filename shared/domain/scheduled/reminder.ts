import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { codePoints } from '../../kernel/text.ts';
import { wakePush } from '../../kernel/wake-up.ts';
import { uniqueSorted } from '../../lists.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { type Change, retryOnConflict } from '../../log/commit.ts';
import { type EventEntry, eventFor, type MessageSlot } from '../../log/slot.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { directConversation, mayRead, normalizedContent } from '../../model/message/message.ts';
import { type Caller, loadCaller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { Reader } from '../reader/reader.ts';
import { noticeReferences, quoteOf, silentMention } from '../send/notice.ts';
import { doSend } from '../send/send.ts';
import { directDelivery } from '../send/target.ts';
import { type Due, dueKey } from './due.ts';

/** A reminder of a message, as stored under its user (companion facts 2.4). */
export interface Reminder {
  readonly reminderId: number;
  readonly messageId: number;
  readonly note?: string;
  /** What the notice bot will say, in Markdown and as HTML, as long as the message can be read. */
  readonly content: string;
  readonly rendered: string;
  /** Seconds since 1970. */
  readonly deliverAt: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    reminder: Reminder;
  }
}

/** Most code points of a note. Clients get it when they register. */
export const MAX_NOTE = 500;

/** Most reminders of one user (docs/LIMITS.md): `POST /register` sends all of them. */
export const MAX_REMINDERS = 100;

/** Parses a note. Throws `BAD_REQUEST`. */
export function parseNote(given = ''): string | undefined {
  const note = given.trimEnd().replace(/^[\r\n]+/, '');
  if (codePoints(note) > MAX_NOTE) throw badRequest(`'note' has at most ${MAX_NOTE} characters.`);
  return note === '' ? undefined : note;
}

/** All reminders of a user, the next one first. One round trip. */
export async function loadReminders(table: Table, realm: string, userId: number): Promise<Reminder[]> {
  const reminders = await table.all('reminder', { realm, userId });
  return reminders.sort((a, b) => a.deliverAt - b.deliverAt || a.reminderId - b.reminderId);
}

/** A reminder of a user, or undefined if they have none with this id. One round trip. */
export const loadReminder = async (
  table: Table,
  realm: string,
  userId: number,
  reminderId: number,
): Promise<Reminder | undefined> =>
  isId(reminderId) ? table.get('reminder', { realm, userId, reminderId }) : undefined;

/** The reminder. An unknown one, a delivered one, and another user's are 404 alike. */
export function accessReminder(reminder: Reminder | undefined): Reminder {
  if (reminder === undefined) throw refusal('reminderDoesNotExist');
  return reminder;
}

/** Refuses one more reminder of a user who has so many. */
export function checkRoomForReminder(reminders: readonly Reminder[]): void {
  if (reminders.length >= MAX_REMINDERS)
    throw badRequest(`You have ${MAX_REMINDERS} reminders: delete one of them first.`);
}

/** A reminder on the wire, for its user. */
export const reminderObject = (
  { reminderId, messageId, content, rendered, deliverAt }: Reminder,
  userId: number,
) => ({
  reminder_id: reminderId,
  type: 'private' as const,
  to: [userId],
  content,
  rendered_content: rendered,
  scheduled_delivery_timestamp: deliverAt,
  failed: false,
  reminder_target_message_id: messageId,
});

/** A text in Markdown, and rendered. */
interface ReminderText {
  readonly content: string;
  readonly rendered: Rendered;
}

/** What the notice bot says: which message it was, the note, and the message as a quote. */
export function reminderText(
  message: MessageSlot,
  sender: User | undefined,
  channel: Channel | undefined,
  note: string | undefined,
): ReminderText {
  const where = channel ? `#**${channel.name}>${message.topic ?? ''}@${message.id}**` : 'a direct message';
  const parts = [
    `You asked to be reminded of ${where}.`,
    ...(note === undefined ? [] : [quoteOf(note)]),
    ...(sender === undefined ? [] : [`${silentMention(sender)} wrote:`]),
    quoteOf(message.content),
  ];
  const content = normalizedContent(parts.join('\n\n'));
  const references = noticeReferences(sender ?? { userId: 0, fullName: '' }, channel ? [channel] : []);
  return { content, rendered: render(content, references) };
}

const reminderKey = (realm: string, userId: number, reminderId: number): Key<'reminder'> =>
  key('reminder', { realm, userId, reminderId });

const dueOf = (realm: string, userId: number, { reminderId, deliverAt }: Reminder): Due => ({
  realm,
  userId,
  what: 'reminder',
  id: reminderId,
  at: deliverAt,
});

const reminderEvent = (userId: number, op: string, fields: object): EventEntry =>
  eventFor({ users: [userId] }, { type: 'reminders', op, ...fields });

/** Stores a reminder. Its id is the number of its event. */
export function doAddReminder(
  realm: string,
  userId: number,
  given: Omit<Reminder, 'reminderId'>,
  [reminderId = 0]: readonly number[],
): Change<Due> {
  const reminder: Reminder = { ...given, reminderId };
  const due = dueOf(realm, userId, reminder);
  return {
    writes: [
      { put: reminderKey(realm, userId, reminderId), item: { ...reminder }, when: { absent: true } },
      { put: dueKey(due), item: { ...due } },
    ],
    entries: [reminderEvent(userId, 'add', { reminders: [reminderObject(reminder, userId)] })],
    result: due,
  };
}

/** Deletes a reminder, because its user says so or because it is delivered. */
export const doRemoveReminder = (realm: string, userId: number, reminder: Reminder): Change<void> => ({
  writes: [
    { delete: reminderKey(realm, userId, reminder.reminderId), when: { absent: false } },
    { delete: dueKey(dueOf(realm, userId, reminder)) },
  ],
  entries: [reminderEvent(userId, 'remove', { reminder_id: reminder.reminderId })],
  result: undefined,
});

/**
 * Sends a reminder that is due as a direct message of the notice bot, and deletes it in the same transaction. Its text is
 * rendered again as long as the message can be read.
 */
export async function remind(outside: Outside, queues: Queues, { realm, userId, id }: Due): Promise<void> {
  const { table } = outside;
  await retryOnConflict(outside, async () => {
    const reminder = await loadReminder(table, realm, userId, id);
    if (reminder === undefined) return;
    const caller = await loadCaller(outside, realm, userId, undefined);
    const gone = doRemoveReminder(realm, userId, reminder);
    if (caller === undefined) {
      await commitTo(outside, realm)(1, () => gone);
      return;
    }
    const { noticeBotId } = caller.realm;
    const people = uniqueSorted([noticeBotId, userId]);
    const [conversation, text] = await Promise.all([
      table.get('conversation', { realm, conversation: directConversation(people) }),
      presentText(outside, caller, reminder),
    ]);
    const draft = {
      senderId: noticeBotId,
      client: 'Internal',
      content: text.content,
      readBySender: false,
      now: outside.now(),
    };
    const delivery = directDelivery(realm, people, conversation, text.rendered);
    await commitTo(outside, realm)(2, (numbers) => {
      const before = gone.entries.filter((entry) => entry.kind === 'event');
      const sent = doSend(realm, draft, { ...delivery, before }, numbers);
      return { ...sent, writes: [...sent.writes, ...gone.writes] };
    });
    await wakePush({ caller, outside, clients: { queues } });
  });
}

/** What the reminder says now; what it said when it was made, if its user cannot read the message any more. */
async function presentText(outside: Outside, caller: Caller, reminder: Reminder): Promise<ReminderText> {
  const { realmId: realm, user, standing } = caller;
  const reader = new Reader(outside, realm, user.userId);
  const message = await reader.message(reminder.messageId);
  if (message === undefined || !(await mayRead(reader, standing, message))) {
    const { content, rendered: html } = reminder;
    return { content, rendered: { ...render(content, NOTHING_RESOLVED), html } };
  }
  const [sender, seen] = await Promise.all([
    reader.user(message.senderId),
    message.channelId === undefined ? undefined : reader.channel(message.channelId),
  ]);
  return reminderText(message, sender, seen?.channel, reminder.note);
}
