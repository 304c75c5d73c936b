import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import { mayRead } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { Reader } from './reader.ts';

/** The message that a request is about, with what decides whether the caller has access. */
export interface Target<M = unknown> {
  readonly message: MessageSlot;
  readonly reader: Reader;
  /** Its channel; undefined for a direct message. */
  readonly seen: ChannelWithSubscription | undefined;
  /** What else the request needs, read in parallel. */
  readonly more: M;
}

/** The lookup key of a message, which is then read in the first round trip. */
export const messageLookupKeys = (id: number): LookupKey<'message'>[] =>
  isId(id) ? [{ kind: 'message', id }] : [];

/** The message that the first round trip read; undefined if there is none. */
export function resolvedMessage(resolved: Resolved, id: number): MessageSlot | undefined {
  const [slot] = messageLookupKeys(id).map((lookupKey) => resolved.follow(lookupKey));
  return slot?.kind === 'message' ? slot : undefined;
}

/** Reads what decides about a message, and `loadMore` in parallel. One round trip if `loadMore` takes one. */
export async function loadTarget<M>(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  resolved: Resolved,
  userId: number,
  id: number,
  loadMore: (message: MessageSlot, reader: Reader) => Promise<M>,
): Promise<Target<M> | undefined> {
  const message = resolvedMessage(resolved, id);
  if (message === undefined) return undefined;
  const reader = new Reader(outside, resolved.realm, userId);
  const [seen, more] = await Promise.all([
    message.channelId === undefined ? undefined : reader.channel(message.channelId),
    loadMore(message, reader),
  ]);
  return { message, reader, seen, more };
}

/** The message, if the caller has access. Refuses one without access like one that does not exist. */
export async function accessTarget<T extends Target>(who: Standing, target: T | undefined): Promise<T> {
  if (target === undefined || !(await mayRead(target.reader, who, target.message))) {
    throw refusal('invalidMessages');
  }
  return target;
}

/** Refuses changes in an archived channel. */
export function checkChangeable({ seen }: Pick<Target, 'seen'>): void {
  if (seen?.channel.isArchived) throw badRequest(`The channel '${seen.channel.name}' is archived.`);
}
