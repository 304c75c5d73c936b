import { required } from '../../environment.ts';
import { Refusal } from '../../kernel/errors.ts';
import { lookUpIn, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { commitAndCheckpoint } from '../../log/checkpoint.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { allocate, logOf } from '../../log/log.ts';
import {
  CHANNEL_WILDCARDS,
  extractReferences,
  type References,
  TOPIC_WILDCARDS,
} from '../../markdown/references.ts';
import { normalizedContent } from '../../model/message/message.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import { type Caller, loadCallerWithOwner } from '../../model/user/caller.ts';
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
import { type Draft, doSend, type SendToken, sentKey } from '../send/send.ts';
import { type MailAddress, SERVICE } from './channel-address.ts';
import { contentOf, topicOf } from './content.ts';
import { LARGEST_MAIL, type Mail, parseMail } from './mail.ts';
import { MAX_CHANNELS, type Recipient, recipientsOf, suspicionOf } from './recipient.ts';

/** A mail in the bucket. */
interface Waiting {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Posts an incoming mail to each of its channels, or drops it and logs the reason (never content or addresses). It sends no
 * bounce: the named sender of unwanted mail is rarely the real one. Throws only what a retry may fix.
 */
export async function takeMail(
  outside: Outside,
  { key, size }: Waiting,
  fetch: () => Promise<Uint8Array | undefined>,
): Promise<void> {
  const drop = (reason: string): void =>
    outside.report({ level: 'WARN', message: 'mail dropped', mail: key, reason });
  const domain = required({ MAIL_DOMAIN: outside.mailDomain }, 'MAIL_DOMAIN');
  if (size > LARGEST_MAIL) return drop('too large');
  const raw = await fetch();
  if (raw === undefined) return drop('gone');
  const mail = await parseMail(raw);
  if (mail === undefined) return drop('unreadable');
  const suspicion = suspicionOf(mail, domain);
  if (suspicion !== undefined) return drop(suspicion);
  const recipients = recipientsOf(mail, domain);
  if (recipients.length === 0) return drop('no address');
  if (recipients.length > MAX_CHANNELS) return drop('too many addresses');
  const id = identityOf(mail, key);
  for (const recipient of recipients) {
    const outcome = await deliverMail(outside, { mail, id, recipient });
    if (outcome !== 'posted') drop(outcome);
  }
}

/**
 * Identifies a mail when it is delivered again: its Message-ID and, since some senders reuse IDs, what is shown of it. Mail
 * without an ID is identified by its object key.
 */
function identityOf({ messageId, subject, from, text, html, files }: Mail, key: string): string {
  const shown = JSON.stringify([messageId ?? key, subject, from, text, html, files]);
  return digestOf(shown);
}

/** The outcome of delivering a mail to one address. */
type Outcome =
  | 'posted'
  | 'posted before'
  | 'unknown address'
  | 'account deactivated'
  | 'sender lost'
  | 'channel archived'
  | 'not permitted';

/** A mail for one channel address. */
interface AddressedMail {
  readonly mail: Mail;
  /** Identifies this mail: the same at each delivery, and different for every other mail. */
  readonly id: string;
  readonly recipient: Recipient;
}

/** Seconds for which posted mail is remembered: longer than retries can last. */
const REMEMBERED = 21 * 24 * 3600;

/**
 * Posts a mail to the channel of an address, with the current rights of the address's user: mail can do nothing that the
 * user may no longer do.
 *
 * A second delivery of the same mail makes no second message: the send is remembered in the transaction that posts it.
 */
async function deliverMail(outside: Outside, addressed: AddressedMail): Promise<Outcome> {
  const { token } = addressed.recipient;
  const address = await outside.table.get('mailToken', { token });
  if (address === undefined) return 'unknown address';
  return retryOnConflict(outside, () => tryToDeliver(outside, addressed, address));
}

async function tryToDeliver(
  outside: Outside,
  addressed: AddressedMail,
  address: MailAddress,
): Promise<Outcome> {
  const { table } = outside;
  const { realm, channelId, userId } = address;
  const caller = await loadCallerWithOwner(outside, realm, userId);
  if (caller === undefined) return 'account deactivated';
  const person = caller.user;
  const senderId = address.senderId === SERVICE ? caller.realm.noticeBotId : address.senderId;
  const sentToken = tokenOf(addressed);
  const [sender, channel, before] = await Promise.all([
    table.get('user', { realm, userId: senderId }),
    table.get('channel', { realm, channelId }),
    table.get(sentKey(realm, senderId, sentToken.echo)),
  ]);
  if (before !== undefined) return 'posted before';
  if (sender === undefined || !isSenderAllowed(sender, address, person)) return 'sender lost';
  // Channels are never deleted, only archived.
  if (channel === undefined || channel.isArchived) return 'channel archived';

  const topic = topicOf(addressed.mail.subject, channel, caller.realm.settings);
  const content = await contentOf(addressed.mail, addressed.recipient.options, topic);
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
  const log = logOf(outside, realm);
  const { delivery } = decided;
  const count = delivery.before.length + 1;
  const change = (numbers: readonly number[]) => doSend(realm, decided.draft, delivery, numbers);
  await commitAndCheckpoint(log, outside.report, count, change, allocate(log, count, 1));
  return 'posted';
}

/** Whether the sender is still allowed: the service, the address's user, or one of their bots. */
const isSenderAllowed = (sender: User, { senderId }: MailAddress, person: User): boolean =>
  senderId === SERVICE || sender.userId === person.userId || mayActAsBot(person, sender);

/** The idempotency token of this mail at this address. */
function tokenOf({ id, recipient }: AddressedMail): SendToken {
  const localId = digestOf(JSON.stringify([recipient.token, id]));
  return { echo: { queueId: 'mail', localId }, fingerprint: localId, remembered: REMEMBERED };
}

/** The `@` of mentions of a whole channel or topic, and of any mention. */
const WILDCARDS = new RegExp(
  `@(?=\\*\\*(${[...CHANNEL_WILDCARDS, ...TOPIC_WILDCARDS].join('|')})\\*\\*)`,
  'g',
);
const MENTIONS = /@(?=\*)/g;

/** The destination of a mail, and the users it concerns. */
interface Place {
  /** The sender of the message, with the rights of `person`. */
  readonly caller: Caller;
  /** The user who requested the address. */
  readonly person: User;
  readonly channelId: number;
  readonly topic: string;
}

/**
 * The message with as many notifying mentions as allowed; undefined if it may not be posted at all. Anyone who knows the
 * address can write, so mail never notifies a whole channel or topic. It notifies the users and groups whom the address's
 * user may notify. If one of them is not allowed, all mentions are silent.
 */
async function decideQuietly(outside: Outside, place: Place, draft: Draft) {
  const silenced = [WILDCARDS, MENTIONS].map((mentions) => draft.content.replace(mentions, '@_'));
  for (const content of new Set([draft.content, ...silenced.map(normalizedContent)])) {
    const decided = await decide(outside, place, { ...draft, content });
    const { channelWildcard, topicWildcard } = decided?.delivery.rendered ?? {};
    if (decided && !channelWildcard && !topicWildcard) return decided;
  }
  return undefined;
}

/** The message to post; undefined if the address's user may not post it. */
async function decide(outside: Outside, place: Place, draft: Draft) {
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

/** Reads the destination: the topic for the sender, the subscription for the address's user. */
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
