import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError } from '../../log/commit.ts';
import {
  accessContent,
  type ChannelWithSubscription,
  checkPosting,
  loadChannel,
} from '../../model/channel/access.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import type { Caller } from '../../model/user/caller.ts';
import { mayActAsBot } from '../../model/user/management.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/*
 * Email addresses of channels (specification 4.7, wire facts 9). Each combination of channel, requesting user and sender
 * has its own token. Anyone who knows the token can post.
 */

/** An address, as stored under its token. */
export interface MailAddress {
  readonly token: string;
  /** The organization. Nothing else in a mail identifies it. */
  readonly realm: string;
  readonly channelId: number;
  /** The user who requested the address. */
  readonly userId: number;
  /** The sender of the messages; 0 is the service itself. */
  readonly senderId: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    mailToken: MailAddress;
  }
}

/** The snapshot for a request for an address. */
interface MailSnapshot {
  readonly seen: ChannelWithSubscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
  /** The requested sender, if one is named. */
  readonly sender: User | undefined;
  /** The tokens of the caller's existing addresses, by sender: the service and the named one. */
  readonly tokens: ReadonlyMap<number, string>;
}

/** The service as the sender. The id of its account is unknown until the settings are read. */
export const SERVICE = 0;

/** Reads the snapshot in one round trip. */
export async function loadMailSnapshot(
  table: Table,
  { realm, userId, ownerId }: { readonly realm: string; readonly userId: number; readonly ownerId?: number },
  channelId: number,
  senderId: number | undefined,
): Promise<MailSnapshot> {
  const named = senderId !== undefined && isId(senderId) ? senderId : undefined;
  const [seen, owners, sender, ...tokens] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    ownerId === undefined ? undefined : loadChannel(table, realm, channelId, ownerId),
    named === undefined ? undefined : table.get('user', { realm, userId: named }),
    ...[SERVICE, ...(named === undefined ? [] : [named])].map(async (id): Promise<[number, string][]> => {
      if (!isId(channelId)) return [];
      const stored = await table.get('mailAddress', { realm, channelId, userId, senderId: id });
      return stored === undefined ? [] : [[id, stored.token]];
    }),
  ]);
  return { seen, ownerSubscription: owners?.subscription, sender, tokens: new Map(tokens.flat()) };
}

/** The address that the caller may have, with its token if it exists already. */
interface DecidedAddress extends Omit<MailAddress, 'token' | 'realm'> {
  readonly channel: Channel;
  readonly token: string | undefined;
}

/**
 * Decides whether the caller may have an address of the channel: the channel is active, and the caller may read it and
 * post to it. The sender is the service, the caller, or one of the caller's active bots.
 */
export function checkMailAddress(
  caller: Caller,
  { seen: found, ownerSubscription, sender, tokens }: MailSnapshot,
  asked: number | undefined,
): DecidedAddress {
  const seen = accessContent(caller.standing, found);
  if (seen.channel.isArchived) throw refusal('invalidChannelId');
  checkPosting(caller, { ...seen, ownerSubscription });
  const { userId } = caller.user;
  const isService = asked === undefined || asked === caller.realm.noticeBotId;
  const isOwnBot = sender !== undefined && mayActAsBot(caller.user, sender);
  if (!isService && asked !== userId && !isOwnBot) {
    throw badRequest("'sender_id' must be your own ID or the ID of one of your bots.");
  }
  const { channel } = seen;
  const senderId = isService ? SERVICE : asked;
  return { channel, channelId: channel.channelId, userId, senderId, token: tokens.get(senderId) };
}

/**
 * The token of the address. It is created at the first request and never changes. Two concurrent requests get the same
 * token.
 */
export async function tokenFor(
  outside: Outside,
  realm: string,
  { channelId, userId, senderId, token: known }: DecidedAddress,
): Promise<string> {
  const own = key('mailAddress', { realm, channelId, userId, senderId });
  if (known !== undefined) return known;
  const token = Buffer.from(outside.randomBytes(16)).toString('hex');
  const address: MailAddress = { token, realm, channelId, userId, senderId };
  const { state } = await carryOut(outside, [
    { put: own, item: { token }, when: { absent: true } },
    { put: key('mailToken', { token }), item: { ...address }, when: { absent: true } },
  ]);
  if (state === 'done') return token;
  const first = await outside.table.get(own);
  // An operator has revoked it meanwhile.
  if (first === undefined) throw new ConflictError([]);
  return first.token;
}

/** Longest local part of an address, in octets (RFC 5321). */
const MAX_LOCAL_PART = 64;

/** The address of a channel: a readable part, the token, and the option to show the sender. */
export function mailAddress(domain: string, { name }: Channel, token: string): string {
  const rest = `.${token}.show-sender`;
  // The readable part has no meaning for us. Mail servers reject a longer local part.
  const slug = slugOf(name)
    .slice(0, MAX_LOCAL_PART - rest.length)
    .replace(/[-_]+$/, '');
  return `${slug}${rest}@${domain}`;
}

/** The channel's name in ASCII; `channel` if the name has other characters (wire facts 9). */
function slugOf(name: string): string {
  const words = name.replace(/[^\p{L}\p{N}_]+/gu, '-');
  const slug = words
    .normalize('NFKD')
    .replace(/[^\w-]/g, '')
    .toLowerCase()
    .replace(/^[-_]+|[-_]+$/g, '');
  return slug.length === words.length ? slug : 'channel';
}
