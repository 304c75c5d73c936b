import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
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
 * Addresses at which a channel takes mail (specification 4.7, wire facts 9). Each has a token of its own for the
 * channel, the person who asked for it, and who is to appear as the sender; whoever has the token can post.
 */

/** An address, as stored under its token. */
export interface MailAddress {
  readonly token: string;
  /** The organization: mail has nothing else that tells it. */
  readonly realm: string;
  readonly channelId: number;
  /** Who asked for it. */
  readonly userId: number;
  /** Who appears as the sender; 0 for the service itself. */
  readonly senderId: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    mailToken: MailAddress;
  }
}

/** What a request for an address is decided on. */
export interface MailSnapshot {
  readonly seen: ChannelWithSubscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
  /** The account that is to appear as the sender, if one is named. */
  readonly sender: User | undefined;
  /** The tokens of addresses that the caller was given before: for the service, and for the sender that is named. */
  readonly tokens: ReadonlyMap<number, string>;
}

/** Stands for the service as the sender: the id of its account is not known before its settings are read. */
export const SERVICE = 0;

/** Reads it in one round trip. */
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

/** An address that was decided on, with its token if it has one already. */
export interface DecidedAddress extends Omit<MailAddress, 'token' | 'realm'> {
  readonly channel: Channel;
  readonly token: string | undefined;
}

/**
 * Decides whether the caller may have an address of the channel: it is active, and they may read it and post in it.
 * The sender is the service itself, the caller, or an active bot of theirs.
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
    throw badRequest("'sender_id' must be yours, or that of a bot of yours.");
  }
  const { channel } = seen;
  const senderId = isService ? SERVICE : asked;
  return { channel, channelId: channel.channelId, userId, senderId, token: tokens.get(senderId) };
}

/**
 * The token of the address, which stays the same; it is made when it is first asked for. Of two who ask at once both
 * get the one that was made first.
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
  // An operator ended it meanwhile.
  if (first === undefined) throw new ConflictError([]);
  return first.token;
}

/** Octets that may stand before the `@` of an address (RFC 5321). */
const MAX_LOCAL = 64;

/** The address of a channel: a readable part, the token, and that its mail shows from whom it came. */
export function mailAddress(domain: string, { name }: Channel, token: string): string {
  const rest = `.${token}.show-sender`;
  // The readable part means nothing to us, and a longer address would be refused on its way.
  const slug = slugOf(name)
    .slice(0, MAX_LOCAL - rest.length)
    .replace(/[-_]+$/, '');
  return `${slug}${rest}@${domain}`;
}

/** The name in letters that every mail program takes; a name that has others is not shown at all (wire facts 9). */
function slugOf(name: string): string {
  const words = name.replace(/[^\p{L}\p{N}_]+/gu, '-');
  const slug = words
    .normalize('NFKD')
    .replace(/[^\w-]/g, '')
    .toLowerCase()
    .replace(/^[-_]+|[-_]+$/g, '');
  return slug.length === words.length ? slug : 'channel';
}
