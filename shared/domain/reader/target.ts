import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import { mayRead } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { Reader } from './reader.ts';

/** A message that somebody wants to change, with what decides whether they may read it. */
export interface Target<M = unknown> {
  readonly message: MessageSlot;
  readonly reader: Reader;
  /** Its channel; undefined for a direct message. */
  readonly seen: ChannelWithSubscription | undefined;
  /** What else the change needs, read beside it. */
  readonly more: M;
}

/** The message of a request, to be read in its first round trip. */
export const messageLookupKeys = (id: number): LookupKey<'message'>[] =>
  isId(id) ? [{ kind: 'message', id }] : [];

/** The message behind an id, as the first round trip found it; undefined where there is none (any more). */
export function resolvedMessage(resolved: Resolved, id: number): MessageSlot | undefined {
  const [slot] = messageLookupKeys(id).map((pointer) => resolved.follow(pointer));
  return slot?.kind === 'message' ? slot : undefined;
}

/** Reads what decides about a message, and `loadMore` beside it. One round trip if that is one. */
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

/** The message, for somebody who may read it: one that they may not is refused as one that does not exist. */
export async function accessTarget<T extends Target>(who: Standing, target: T | undefined): Promise<T> {
  if (target === undefined || !(await mayRead(target.reader, who, target.message))) {
    throw refusal('invalidMessages');
  }
  return target;
}

/** Decides that the message can be changed at all: an archived channel stays as it is. */
export function checkChangeable({ seen }: Target): void {
  if (seen?.channel.isArchived) throw badRequest(`The channel '${seen.channel.name}' is archived.`);
}
