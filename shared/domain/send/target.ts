import { badRequest, Refusal } from '../../kernel/errors.ts';
import { isId, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { firstCodePoints } from '../../kernel/text.ts';
import type { References } from '../../markdown/references.ts';
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
import { claimEvents, doClaimFiles, withRoom } from '../files/claim.ts';
import { fetchableFiles, filesIn, type LinkedFiles, type Linker, loadLinkedFiles } from '../files/link.ts';
import { shownImages } from '../files/preview.ts';
import {
  checkGroupMentions,
  type LoadedReferences,
  loadForWriter,
  loadReferences,
  resolveReferences,
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

/** The recipients of a direct message, and their conversation with the sender if it exists. */
interface DirectTarget {
  readonly kind: 'direct';
  /** Each as the request named them, and the user if they exist. */
  readonly addressees: readonly { readonly named: string; readonly user: User | undefined }[];
  readonly conversation: Conversation | undefined;
}

/** The channel and topic of a message. */
interface ChannelTarget {
  readonly kind: 'channel';
  /** The channel as the request names it. */
  readonly label: string;
  readonly to: ChannelRecipient & { readonly topic: string };
  readonly destination: ChannelSendSnapshot | undefined;
}

/** Everything that a send depends on. */
export interface SendSnapshot {
  readonly target: ChannelTarget | DirectTarget;
  readonly named: LoadedReferences;
  readonly sent: Sent | undefined;
  /** The files that the content may link to; undefined if it has no such links. */
  readonly linked: LinkedFiles | undefined;
}

/** Loads it in one round trip; two if the content links to files of others. */
export async function loadSend(
  outside: Outside,
  sender: Sender & Linker,
  { to, names, files, token }: SendRequest,
  resolved: Resolved,
): Promise<SendSnapshot> {
  const { userId, baseUrl } = sender;
  const [target, named, sent, linked] = await Promise.all([
    to.kind === 'direct'
      ? loadDirectTarget(outside, userId, to, resolved)
      : loadChannelTarget(outside, sender, to, names, resolved),
    loadReferences(outside, resolved, names, userId, baseUrl),
    token && outside.table.get(sentKey(resolved.realm, userId, token.echo)),
    files.length > 0 ? loadLinkedFiles(outside, resolved.realm, sender, files) : undefined,
  ]);
  return { target, named, sent, linked };
}

async function loadDirectTarget(
  { table }: Outside,
  senderId: number,
  recipient: DirectRecipient,
  resolved: Resolved,
): Promise<DirectTarget> {
  const { realm } = resolved;
  const targets =
    'ids' in recipient
      ? recipient.ids.map((id) => ({ named: `user ID ${id}`, userId: isId(id) ? id : undefined }))
      : recipient.emails.map((email) => ({
          named: `email '${firstCodePoints(email, limits.email)}'`,
          userId: resolved.follow({ kind: 'account', email })?.userId,
        }));
  const people = [...targets.flatMap(({ userId }) => userId ?? []), senderId];
  const [conversation, addressees] = await Promise.all([
    table.get('conversation', { realm, conversation: directConversation(people) }),
    Promise.all(
      targets.map(async ({ named, userId }) => ({
        named,
        user: userId === undefined ? undefined : await table.get('user', { realm, userId }),
      })),
    ),
  ]);
  return { kind: 'direct', addressees, conversation };
}

async function loadChannelTarget(
  outside: Outside,
  sender: Sender,
  to: ChannelTarget['to'],
  names: References,
  resolved: Resolved,
): Promise<ChannelTarget> {
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
  snapshot: SendSnapshot,
): Promise<Delivery> {
  const { linked } = snapshot;
  if (linked === undefined) return acceptText(outside, caller, draft, snapshot);
  const open = await fetchableFiles(caller.standing, linked);
  const images = shownImages(caller, linked, open);
  const delivery = await acceptText(outside, caller, draft, snapshot, images);
  const files = withRoom(filesIn(delivery.rendered.links, linked, open));
  const { before, place, writesFor } = delivery;
  return {
    ...delivery,
    files,
    before: [...before, ...claimEvents(draft.senderId, files)],
    writesFor: (messageId) => [
      ...writesFor(messageId),
      ...doClaimFiles(caller.realmId, messageId, place.channelId, files),
    ],
  };
}

async function acceptText(
  outside: Outside,
  caller: Caller,
  draft: Draft,
  { target, named: all }: SendSnapshot,
  images?: LoadedReferences['images'],
): Promise<Delivery> {
  const recipients = target.kind === 'direct' ? target.addressees.flatMap(({ user }) => user ?? []) : [];
  const hidden = await hiddenUsers(outside, caller, [...recipients, ...all.users.values()]);
  const named = await loadForWriter(outside, caller, all, hidden, images);
  if (target.kind === 'direct') {
    const people = accessPeople(caller.user, target, hidden);
    checkContent(draft.content);
    checkRecipients(people);
    const { conversation } = target;
    await checkDirectPermission(outside, caller, people, conversation === undefined);
    const rendered = render(draft.content, resolveReferences(caller.standing, named));
    checkGroupMentions(caller, named.groups, rendered.mentionedGroupIds);
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

/**
 * The people of the conversation with the sender, in the order of their ids. A recipient who does not exist, or whom
 * the sender may not see, is `BAD_REQUEST` (specification 4.1 rule 3).
 */
function accessPeople(sender: User, { addressees }: DirectTarget, hidden: ReadonlySet<number>): User[] {
  const people = new Map([[sender.userId, sender]]);
  for (const { named, user } of addressees) {
    if (user === undefined || hidden.has(user.userId)) throw badRequest(`Invalid ${named}.`);
    people.set(user.userId, user);
  }
  checkSize(people.size);
  return [...people.values()].sort((a, b) => a.userId - b.userId);
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

/** Whether `acceptMessage` failed because the channel does not exist. */
export const isMissingChannel = (target: SendSnapshot['target'], refused: unknown): target is ChannelTarget =>
  target.kind === 'channel' && refused instanceof Refusal && refused.code === 'STREAM_DOES_NOT_EXIST';
