import { indexes, key, padded } from '../table/keys.ts';
import type { Item, Write } from '../table/write.ts';
import { type Log, type Numbers, silenceOf } from './log.ts';
import { type Entry, type EventEntry, expiry } from './slot.ts';

/**
 * Packs the entries of a commit into slots: events go together, a message closes its slot since the slot is its
 * own. Each slot stands at the highest of its numbers; the first one also stands for numbers that were taken in
 * vain. The last slot always stands at the highest number of all: it decides for the others.
 */
export function slotWrites(log: Log, numbers: Numbers, entries: readonly Entry[], mark: string): Write[] {
  const at = log.now();
  const spare = numbers.length - entries.length;
  const writes: Write[] = [];
  let events: Omit<EventEntry, 'kind'>[] = [];
  entries.forEach((entry, i) => {
    const seq = numbers[spare + i] as number;
    if (entry.kind === 'event') {
      const { kind, ...event } = entry;
      events.push(event);
      if (i < entries.length - 1) return;
    }
    const width =
      (entry.kind === 'message' ? events.length + 1 : events.length) + (writes.length === 0 ? spare : 0);
    const slot = { seq, width, at, commit: mark, ...(writes.length === 0 && silenceOf(numbers)) };
    const item =
      entry.kind === 'event'
        ? { ...slot, kind: 'event', events, expires: expiry(at) }
        : {
            ...slot,
            kind: 'message',
            ...entry.message,
            id: seq,
            ...indexKeys(log.realm, seq, entry.message),
            ...(events.length > 0 && { before: events }),
          };
    writes.push({ put: key('slot', { realm: log.realm, seq }), item, when: { absent: true } });
    events = [];
  });
  return writes;
}

/** The index attributes of a message: from here and from moves they come, nowhere else. */
export const indexKeys = (
  realm: string,
  id: number,
  message: { readonly channelId?: number; readonly conversation: string },
): Item => ({
  ...(message.channelId !== undefined && {
    channelKey: indexes.channel.key(realm, message.channelId),
    channelSort: padded(id),
  }),
  conversationKey: indexes.conversation.key(realm, message.conversation),
  conversationSort: padded(id),
});
