import { sqsQueues } from '../../shared/adapters/queues.ts';
import { loadNamed, type Named, nameLookupKeys, withoutUsers } from '../../shared/domain/mention/naming.ts';
import { wakePush } from '../../shared/domain/push/nudge.ts';
import { noticeForOwner } from '../../shared/domain/send/owner-notice.ts';
import {
  type ChannelRecipient,
  channelRecipient,
  type DirectRecipient,
  directRecipient,
  recipientLookupKeys,
} from '../../shared/domain/send/recipient.ts';
import {
  type Delivery,
  type Draft,
  doSend,
  type SendReply,
  sendReply,
  startsAsRead,
} from '../../shared/domain/send/send.ts';
import {
  checkChannelMessage,
  type Destination,
  isKnownTo,
  loadDestination,
  missingChannel,
} from '../../shared/domain/send/send-channel.ts';
import {
  accessPeople,
  type Correspondence,
  checkDirectMessage,
  loadCorrespondence,
} from '../../shared/domain/send/send-direct.ts';
import {
  accessSent,
  checkEcho,
  fingerprintOf,
  type SendToken,
  type Sent,
  sentKey,
} from '../../shared/domain/send/sent.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { sendMessage } from '../../shared/endpoints/send-message.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { type Wants, wants } from '../../shared/markdown/wants.ts';
import { noAccess } from '../../shared/model/channel/posting.ts';
import { checkContent, checkTopic, normalizedContent } from '../../shared/model/message/text.ts';
import { hiddenUsers } from '../../shared/model/subscription/user-access.ts';
import type { User } from '../../shared/model/user/user.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Send = InputOf<typeof sendMessage>;

/** What a send reads, in one round trip: the names in it, whether it was done before, and where it goes. */
type Loaded = (ToChannel | ToPeople) & { readonly named: Named; readonly sent: Sent | undefined };

interface ToChannel {
  readonly kind: 'channel';
  readonly recipient: ChannelRecipient;
  readonly topic: string;
  readonly destination: Destination | undefined;
}

interface ToPeople {
  readonly kind: 'direct';
  readonly recipient: DirectRecipient;
  readonly correspondence: Correspondence;
}

const recipientOf = ({ type, to }: Send): ChannelRecipient | DirectRecipient =>
  type === 'direct' || type === 'private' ? directRecipient(to) : channelRecipient(to);

const namesIn = ({ content }: Send): Wants => wants(normalizedContent(content));

const echoOf = ({ queue_id, local_id }: Send) => checkEcho(queue_id, local_id);

function pointers(input: Send): LookupKey[] {
  echoOf(input);
  const recipient = recipientOf(input);
  checkOwnName(input);
  return [...recipientLookupKeys(recipient), ...nameLookupKeys(namesIn(input))];
}

/** Refuses to send in somebody else's name: ignoring the wish would put words into the caller's mouth (wire facts 3.1). */
function checkOwnName({ sender, forged }: Send): void {
  if (sender !== undefined || forged === 'yes' || forged === 'true') {
    throw badRequest('You may not send messages in the name of somebody else.');
  }
}

/** A number for the message, one for the sender's own policy, and one for everybody who may begin to follow. */
const numbersFor = (input: Send): number =>
  recipientOf(input).kind === 'direct' ? 1 : 2 + namesIn(input).users.length;

async function load(look: UnverifiedRequest<Send>): Promise<Loaded> {
  const { input, realm, userId, resolved, outside } = look;
  const recipient = recipientOf(input);
  const names = namesIn(input);
  const echo = echoOf(input);
  const [target, named, sent] = await Promise.all([
    recipient.kind === 'channel' ? toChannel(look, recipient, names) : toPeople(look, recipient),
    loadNamed(outside, resolved, names, userId),
    echo && outside.table.get(sentKey(realm, userId, echo)),
  ]);
  return { ...target, named, sent };
}

/** That there is a topic is a rule of channel messages, not of the parameter: wire facts 3.4. */
async function toChannel(
  look: UnverifiedRequest<Send>,
  recipient: ChannelRecipient,
  names: Wants,
): Promise<ToChannel> {
  if (look.input.topic === undefined) throw badRequest('A channel message needs a topic.');
  const topic = checkTopic(look.input.topic);
  const destination = await loadDestination(look.outside, look, recipient, topic, names, look.resolved);
  return { kind: 'channel', recipient, topic, destination };
}

async function toPeople(look: UnverifiedRequest<Send>, recipient: DirectRecipient): Promise<ToPeople> {
  const correspondence = await loadCorrespondence(look.outside, look.userId, recipient, look.resolved);
  return { kind: 'direct', recipient, correspondence };
}

/** Decides and sends. The checks stand in the order of wire facts 3.3, since only the first refusal is told. */
async function run(context: Request<Send>, loaded: Loaded): Promise<SendReply> {
  const { input, caller, outside, log } = context;
  const echo = echoOf(input);
  const token = echo && { echo, fingerprint: fingerprintOf(loaded.recipient, input.topic, input.content) };
  const before = accessSent(loaded.sent, token);
  if (before) return sendReply(before.messageId, before.policy);

  const hidden = await hiddenUsers(outside, caller, usersIn(loaded));
  const named = withoutUsers(loaded.named, hidden);
  if (loaded.kind === 'direct') {
    const { correspondence } = loaded;
    const people = accessPeople(caller.user, correspondence, hidden);
    const draft = draftOf(context, token);
    const { conversation } = correspondence;
    const delivery = await checkDirectMessage(outside, caller, draft, people, conversation, named);
    return deliver(context, draft, delivery);
  }
  const draft = draftOf(context, token);
  const { recipient, destination, topic } = loaded;
  const asked = 'name' in recipient ? recipient.name : `${recipient.id}`;
  if (destination === undefined) {
    const missing = missingChannel(recipient);
    await noticeForOwner(outside, log, caller, asked, 'does not exist');
    throw missing;
  }
  if (!isKnownTo(caller, destination)) throw noAccess(asked);
  const reply = await deliver(context, draft, checkChannelMessage(caller, draft, destination, topic, named));
  if (destination.count?.subscribers === 0) {
    await noticeForOwner(outside, log, caller, destination.channel.name, 'has no subscribers');
  }
  return reply;
}

/** Everybody whom the message would reach or show by name. */
const usersIn = (loaded: Loaded): User[] => [
  ...(loaded.kind === 'direct' ? loaded.correspondence.addressees.flatMap(({ user }) => user ?? []) : []),
  ...loaded.named.users.values(),
];

const draftOf = ({ input, caller, client, outside }: Request<Send>, token: SendToken | undefined): Draft => ({
  senderId: caller.user.userId,
  client,
  content: checkContent(input.content),
  readBySender: startsAsRead(input.read_by_sender, client),
  ...(token && { token }),
  now: outside.now(),
});

const deliver = ({ realm, commit }: Request<Send>, draft: Draft, delivery: Delivery): Promise<SendReply> =>
  commit(delivery.before.length + 1, (numbers) => doSend(realm, draft, delivery, numbers));

export const handler = serve(
  sendMessage,
  {
    keys: pointers,
    load,
    reserve: numbersFor,
    messages: 1,
    run: async (context, loaded) => {
      const reply = await run(context, loaded);
      await wakePush(context);
      return reply;
    },
  },
  { queues: sqsQueues },
);
