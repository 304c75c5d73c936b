import { badRequest, Refusal } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import { noAccess } from '../../model/channel/access.ts';
import {
  type Conversation,
  checkDirectPermission,
  checkRecipients,
  doAddToDirect,
} from '../../model/message/direct.ts';
import { checkContent, directConversation } from '../../model/message/message.ts';
import { limits } from '../../model/realm/realm.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import {
  checkGroupMentions,
  type LoadedReferences,
  loadReferences,
  resolveReferences,
  withoutHiddenUsers,
} from '../mention/references.ts';
import {
  type ChannelSendSnapshot,
  channelDelivery,
  checkChannelMessage,
  loadChannelSend,
  maySeeChannel,
  missingChannelError,
  type Sender,
} from './channel.ts';
import { type ChannelRecipient, checkSize, type DirectRecipient, type SendRequest } from './request.ts';
import { type Delivery, type Draft, type Sent, sentKey } from './send.ts';

/** A recipient: how the request named them, and the user if they exist. */
interface Addressee {
  readonly named: string;
  readonly user: User | undefined;
}

/** The recipients, and their conversation with the sender if it exists. */
export interface DirectSendSnapshot {
  readonly addressees: readonly Addressee[];
  readonly conversation: Conversation | undefined;
}

/** Each recipient's name in the request and their id, if it exists. */
function recipientIds(
  recipient: DirectRecipient,
  resolved: Resolved,
): { named: string; userId: number | undefined }[] {
  if ('ids' in recipient) {
    return recipient.ids.map((id) => ({ named: `user ID ${id}`, userId: isId(id) ? id : undefined }));
  }
  return recipient.emails.map((email) => ({
    named: `email '${firstCodePoints(email, limits.email)}'`,
    userId: resolved.follow({ kind: 'account', email })?.userId,
  }));
}

/** Loads the recipients and their conversation with the sender. One round trip. */
export async function loadDirectSend(
  { table }: Outside,
  senderId: number,
  recipient: DirectRecipient,
  resolved: Resolved,
): Promise<DirectSendSnapshot> {
  const { realm } = resolved;
  const targets = recipientIds(recipient, resolved);
  const ids = targets.flatMap(({ userId }) => userId ?? []);
  const conversation = directConversation([...ids, senderId]);
  const [found, addressees] = await Promise.all([
    table.get('conversation', { realm, conversation }),
    Promise.all(
      targets.map(async ({ named, userId }) => ({
        named,
        user: userId === undefined ? undefined : await table.get('user', { realm, userId }),
      })),
    ),
  ]);
  return { addressees, conversation: found };
}

/**
 * The people of the conversation with the sender, in the order of their ids. A recipient who does not exist, or whom
 * the sender may not see, is `BAD_REQUEST` (specification 4.1 rule 3).
 */
export function accessPeople(
  sender: User,
  { addressees }: DirectSendSnapshot,
  hidden: ReadonlySet<number>,
): User[] {
  const people = new Map([[sender.userId, sender]]);
  for (const { named, user } of addressees) {
    if (user === undefined || hidden.has(user.userId)) throw badRequest(`Invalid ${named}.`);
    people.set(user.userId, user);
  }
  checkSize(people.size);
  return [...people.values()].sort((a, b) => a.userId - b.userId);
}

/** Checks a direct message: recipients, permissions, group mentions (wire facts 3.3, 3.8). Renders it. */
export async function checkDirectMessage(
  outside: Outside,
  caller: Caller,
  { content }: Draft,
  people: readonly User[],
  conversation: Conversation | undefined,
  named: LoadedReferences,
): Promise<Rendered> {
  checkRecipients(people);
  await checkDirectPermission(outside, caller, people, conversation === undefined);
  const rendered = render(content, resolveReferences(caller.standing, named));
  checkGroupMentions(caller, named.groups, rendered.mentionedGroupIds);
  return rendered;
}

/** The delivery of a message to these people, whose ids are in rising order. */
export function directDelivery(
  realm: string,
  people: readonly number[],
  found: Conversation | undefined,
  rendered: Rendered,
): Delivery {
  const conversation = directConversation(people);
  return {
    place: { people, conversation },
    ...(found && { recipientId: found.recipientId }),
    rendered,
    before: [],
    writesFor: (messageId) => doAddToDirect(realm, conversation, people, messageId, found !== undefined),
  };
}

/** The channel and topic of a message. */
interface ChannelTarget {
  readonly kind: 'channel';
  /** The channel as the request names it. */
  readonly label: string;
  readonly to: ChannelRecipient & { readonly topic: string };
  readonly destination: ChannelSendSnapshot | undefined;
}

/** The people of a direct message. */
interface DirectTarget {
  readonly kind: 'direct';
  readonly correspondence: DirectSendSnapshot;
}

/** Everything that a send depends on. */
export interface SendSnapshot {
  readonly target: ChannelTarget | DirectTarget;
  readonly named: LoadedReferences;
  readonly sent: Sent | undefined;
}

/** Loads it in one round trip. */
export async function loadSend(
  outside: Outside,
  sender: Sender,
  asked: SendRequest,
  resolved: Resolved,
): Promise<SendSnapshot> {
  const { userId } = sender;
  const { names, token } = asked;
  const [target, named, sent] = await Promise.all([
    loadTarget(outside, sender, asked, resolved),
    loadReferences(outside, resolved, names, userId),
    token && outside.table.get(sentKey(resolved.realm, userId, token.echo)),
  ]);
  return { target, named, sent };
}

async function loadTarget(
  outside: Outside,
  sender: Sender,
  { to, names }: SendRequest,
  resolved: Resolved,
): Promise<ChannelTarget | DirectTarget> {
  if (to.kind === 'direct') {
    const correspondence = await loadDirectSend(outside, sender.userId, to, resolved);
    return { kind: 'direct', correspondence };
  }
  const destination = await loadChannelSend(outside, sender, to, to.topic, names, resolved);
  return { kind: 'channel', label: 'name' in to ? to.name : `${to.id}`, to, destination };
}

/**
 * Checks a message and returns its delivery. The order of the checks is that of wire facts 3.3, since clients get only
 * the first refusal. Users whom the caller may not see cannot be recipients, and their names stay plain text.
 */
export async function acceptMessage(
  outside: Outside,
  caller: Caller,
  draft: Draft,
  { target, named: all }: SendSnapshot,
): Promise<Delivery> {
  const recipients =
    target.kind === 'direct' ? target.correspondence.addressees.flatMap(({ user }) => user ?? []) : [];
  const hidden = await hiddenUsers(outside, caller, [...recipients, ...all.users.values()]);
  const named = withoutHiddenUsers(all, hidden);
  if (target.kind === 'direct') {
    const people = accessPeople(caller.user, target.correspondence, hidden);
    checkContent(draft.content);
    const { conversation } = target.correspondence;
    const rendered = await checkDirectMessage(outside, caller, draft, people, conversation, named);
    const ids = people.map(({ userId }) => userId);
    return directDelivery(caller.realmId, ids, conversation, rendered);
  }
  checkContent(draft.content);
  const { to, destination } = target;
  if (destination === undefined) throw missingChannelError(to);
  if (!maySeeChannel(caller, destination)) throw noAccess(target.label);
  const decided = checkChannelMessage(caller, draft, destination, to.topic, named);
  return channelDelivery(caller.realmId, draft, destination, to.topic, decided);
}

/** Whether `acceptMessage` failed because the channel does not exist. */
export const isMissingChannel = (target: SendSnapshot['target'], refused: unknown): target is ChannelTarget =>
  target.kind === 'channel' && refused instanceof Refusal && refused.code === 'STREAM_DOES_NOT_EXIST';
