import { Refusal } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { noAccess } from '../../model/channel/access.ts';
import { checkNotEmpty } from '../../model/message/text.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { type LoadedReferences, loadNamed, withoutUsers } from '../mention/naming.ts';
import type { AskedMessage } from './asked-message.ts';
import type { ChannelRecipient } from './recipient.ts';
import type { Delivery, Draft } from './send.ts';
import {
  channelDelivery,
  checkChannelMessage,
  type Destination,
  isKnownTo,
  loadDestination,
  missingChannel,
  type Sender,
} from './send-channel.ts';
import {
  accessPeople,
  type Correspondence,
  checkDirectMessage,
  directDelivery,
  loadCorrespondence,
} from './send-direct.ts';
import { type Sent, sentKey } from './sent.ts';

/** A topic of a channel to which a message goes, as far as the channel was found. */
interface ChannelTarget {
  readonly kind: 'channel';
  /** The channel as its sender named it. */
  readonly asked: string;
  readonly to: ChannelRecipient & { readonly topic: string };
  readonly destination: Destination | undefined;
}

/** The people to whom a message goes, as far as they were found. */
interface DirectTarget {
  readonly kind: 'direct';
  readonly correspondence: Correspondence;
}

/** What a send reads: where the message goes, what its text refers to, and whether it was sent before. */
export interface SendSnapshot {
  readonly target: ChannelTarget | DirectTarget;
  readonly named: LoadedReferences;
  readonly sent: Sent | undefined;
}

/** Reads it, in one round trip. */
export async function loadSend(
  outside: Outside,
  sender: Sender,
  asked: AskedMessage,
  resolved: Resolved,
): Promise<SendSnapshot> {
  const { userId } = sender;
  const { names, token } = asked;
  const [target, named, sent] = await Promise.all([
    loadTarget(outside, sender, asked, resolved),
    loadNamed(outside, resolved, names, userId),
    token && outside.table.get(sentKey(resolved.realm, userId, token.echo)),
  ]);
  return { target, named, sent };
}

async function loadTarget(
  outside: Outside,
  sender: Sender,
  { to, names }: AskedMessage,
  resolved: Resolved,
): Promise<ChannelTarget | DirectTarget> {
  if (to.kind === 'direct') {
    const correspondence = await loadCorrespondence(outside, sender.userId, to, resolved);
    return { kind: 'direct', correspondence };
  }
  const destination = await loadDestination(outside, sender, to, to.topic, names, resolved);
  return { kind: 'channel', asked: 'name' in to ? to.name : `${to.id}`, to, destination };
}

/**
 * Decides on a message, and returns its delivery. The checks stand in the order of wire facts 3.3, since only the first refusal is told. Whoever is
 * hidden from the caller is nobody, and a name in the text that is theirs stays plain text.
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
  const named = withoutUsers(all, hidden);
  if (target.kind === 'direct') {
    const people = accessPeople(caller.user, target.correspondence, hidden);
    checkNotEmpty(draft.content);
    const { conversation } = target.correspondence;
    const rendered = await checkDirectMessage(outside, caller, draft, people, conversation, named);
    const ids = people.map(({ userId }) => userId);
    return directDelivery(caller.realmId, ids, conversation, rendered);
  }
  checkNotEmpty(draft.content);
  const { to, destination } = target;
  if (destination === undefined) throw missingChannel(to);
  if (!isKnownTo(caller, destination)) throw noAccess(target.asked);
  const decided = checkChannelMessage(caller, draft, destination, to.topic, named);
  return channelDelivery(caller.realmId, draft, destination, to.topic, decided);
}

/** Whether this refusal of `acceptMessage` says that there is no such channel. */
export const isMissing = (target: SendSnapshot['target'], refused: unknown): target is ChannelTarget =>
  target.kind === 'channel' && refused instanceof Refusal && refused.code === 'STREAM_DOES_NOT_EXIST';
