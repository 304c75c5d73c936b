import { createHash } from 'node:crypto';
import { Refusal } from '../../kernel/errors.ts';
import { lookUpIn, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { commitAndCheckpoint } from '../../log/checkpoint.ts';
import { allocate, type Log } from '../../log/log.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import {
  CHANNEL_WILDCARDS,
  extractReferences,
  type References,
  TOPIC_WILDCARDS,
} from '../../markdown/references.ts';
import { normalizedContent } from '../../model/message/message.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import { type Caller, loadCaller } from '../../model/user/caller.ts';
import { mayActAsBot } from '../../model/user/management.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { loadReferences, referenceLookupKeys, withoutHiddenUsers } from '../mention/references.ts';
import {
  type ChannelSendSnapshot,
  channelDelivery,
  checkChannelMessage,
  loadChannelSend,
} from '../send/channel.ts';
import { type Delivery, type Draft, doSend, type SendToken, sentKey } from '../send/send.ts';
import { type MailAddress, SERVICE } from './channel-mail.ts';
import type { Mail } from './mail.ts';
import { contentOf } from './mail-content.ts';
import type { Recipient } from './mail-recipient.ts';
import { topicOf } from './mail-subject.ts';

/** What became of mail at one address: a message, or why there is none. */
export type Outcome = 'posted' | 'posted before' | Undelivered;

export type Undelivered =
  | 'unknown address'
  | 'account deactivated'
  | 'sender lost'
  | 'channel archived'
  | 'not permitted';

/** Mail at one address of a channel. */
export interface Letter {
  readonly mail: Mail;
  /** The same at each delivery of this mail, and for no other. */
  readonly id: string;
  readonly recipient: Recipient;
}

/** Seconds for which posted mail is known: longer than it waits for another try where the first ones failed. */
const REMEMBERED = 21 * 24 * 3600;

/**
 * Posts mail in the channel of an address. What its person may not do any more, mail does not do in their name: all
 * is judged as it is now, by the rules of their own sends.
 *
 * The same mail again makes no second message: what was posted is remembered in the transaction that posts it.
 */
export async function deliverMail(outside: Outside, letter: Letter): Promise<Outcome> {
  const { token } = letter.recipient;
  const address = await outside.table.get('mailToken', { token });
  if (address === undefined) return 'unknown address';
  return retryOnConflict(outside, () => tryToDeliver(outside, letter, address));
}

async function tryToDeliver(outside: Outside, letter: Letter, address: MailAddress): Promise<Outcome> {
  const { table } = outside;
  const { realm, channelId, userId } = address;
  const person = await table.get('user', { realm, userId });
  const caller = person && (await loadCaller(outside, realm, person.userId, person.ownerId));
  if (person === undefined || caller === undefined) return 'account deactivated';
  const senderId = address.senderId === SERVICE ? caller.realm.noticeBotId : address.senderId;
  const sentToken = tokenOf(letter);
  const [sender, channel, before] = await Promise.all([
    table.get('user', { realm, userId: senderId }),
    table.get('channel', { realm, channelId }),
    table.get(sentKey(realm, senderId, sentToken.echo)),
  ]);
  if (before !== undefined) return 'posted before';
  if (sender === undefined || !mayStillAppear(sender, address, person)) return 'sender lost';
  // Channels are never deleted, only archived.
  if (channel === undefined || channel.isArchived) return 'channel archived';

  const topic = topicOf(letter.mail.subject, channel, caller.realm.settings);
  const content = await contentOf(letter.mail, letter.recipient.options, topic);
  const draft: Draft = {
    senderId,
    client: 'Internal',
    content,
    readBySender: false,
    token: sentToken,
    now: outside.now(),
  };
  const place: Place = { caller: { ...caller, user: sender }, person, channelId, topic };
  const decided = await decideQuietly(outside, place, draft);
  if (decided === undefined) return 'not permitted';
  const log: Log = { table, realm, now: outside.now, wait: outside.wait };
  const { delivery } = decided;
  const count = delivery.before.length + 1;
  const change = (numbers: readonly number[]) => doSend(realm, decided.draft, delivery, numbers);
  await commitAndCheckpoint(log, outside.report, count, change, allocate(log, count, 1));
  return 'posted';
}

/** Whether mail may still be shown as this account's: the service's, the person's own, or a bot's of theirs. */
const mayStillAppear = (sender: User, { senderId }: MailAddress, person: User): boolean =>
  senderId === SERVICE || sender.userId === person.userId || mayActAsBot(person, sender);

/** Under one name for each mail and address, whoever appears as the sender. */
function tokenOf({ id, recipient }: Letter): SendToken {
  const localId = createHash('sha256')
    .update(JSON.stringify([recipient.token, id]))
    .digest('hex');
  return { echo: { queueId: 'mail', localId }, fingerprint: localId, remembered: REMEMBERED };
}

/** Mentions of everybody in a channel or a topic. */
const WILDCARDS = new RegExp(
  `@(?=\\*\\*(${[...CHANNEL_WILDCARDS, ...TOPIC_WILDCARDS].join('|')})\\*\\*)`,
  'g',
);

/** The same text, in which those are silent. */
const withoutWildcards = (draft: Draft): Draft => ({
  ...draft,
  content: normalizedContent(draft.content.replace(WILDCARDS, '@_')),
});

/** The same text, in which every mention is silent. */
const silenced = (draft: Draft): Draft => ({
  ...draft,
  content: normalizedContent(draft.content.replace(/@(?=\*)/g, '@_')),
});

/** Where mail goes, and in whose name. */
interface Place {
  /** Who appears as the sender, with the rights of the person. */
  readonly caller: Caller;
  /** Whose address it is. */
  readonly person: User;
  readonly channelId: number;
  readonly topic: string;
}

/**
 * A message as it may be posted, with as many mentions as may be. Nobody knows who wrote mail, and whoever has the address
 * can: so it never notifies everybody in a channel or a topic, whatever its person may do. It notifies the people and
 * groups whom its person may notify, or, where they may not notify one of them, names all of them in silence.
 */
async function decideQuietly(
  outside: Outside,
  place: Place,
  draft: Draft,
): Promise<{ readonly draft: Draft; readonly delivery: Delivery } | undefined> {
  const texts = [draft, withoutWildcards(draft), silenced(draft)];
  for (const quieter of new Map(texts.map((text) => [text.content, text])).values()) {
    const decided = await decide(outside, place, quieter);
    const { channelWildcard, topicWildcard } = decided?.delivery.rendered ?? {};
    if (decided && !channelWildcard && !topicWildcard) return decided;
  }
  return undefined;
}

/** A message as it may be posted; undefined if its person may not post it. */
async function decide(
  outside: Outside,
  place: Place,
  draft: Draft,
): Promise<{ readonly draft: Draft; readonly delivery: Delivery } | undefined> {
  const { caller, person, topic } = place;
  const names = extractReferences(draft.content);
  const known = await lookUpIn(outside.table, caller.realmId, referenceLookupKeys(names));
  const [named, destination] = await Promise.all([
    loadReferences(outside, known, names, person.userId),
    loadPlace(outside, place, names, known),
  ]);
  if (destination === undefined) return undefined;
  const hidden = await hiddenUsers(outside, { ...caller, user: person }, [...named.users.values()]);
  try {
    const decided = checkChannelMessage(caller, draft, destination, topic, withoutHiddenUsers(named, hidden));
    return { draft, delivery: channelDelivery(caller.realmId, draft, destination, topic, decided) };
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** What a send there looks at: the topic as the sender has it, access to the channel as the person has it. */
async function loadPlace(
  outside: Outside,
  { caller, person: { userId, ownerId }, channelId, topic }: Place,
  names: References,
  resolved: Resolved,
): Promise<ChannelSendSnapshot | undefined> {
  const sender = { userId: caller.user.userId, ...(ownerId !== undefined && { ownerId }) };
  const at = key('subscription', { realm: resolved.realm, userId, channelId });
  const [destination, subscription] = await Promise.all([
    loadChannelSend(outside, sender, { kind: 'channel', id: channelId }, topic, names, resolved),
    outside.table.get(at),
  ]);
  return destination && { ...destination, subscription };
}
