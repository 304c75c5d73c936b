import type { Json } from './client.ts';

/** An event as a reader remembers it. */
export interface Heard {
  readonly id: number;
  readonly type: string;
  /** The messages of the event. */
  readonly messages: readonly number[];
}

export const heardOf = ({ id, type, message, message_id, message_ids, messages }: Json): Heard => ({
  id,
  type,
  messages:
    message === undefined
      ? (message_ids ?? messages ?? (message_id === undefined ? [] : [message_id]))
      : [message.id],
});

/** Transient events that last only some seconds: a client that polls later does not get them. */
const momentary = new Set(['presence', 'typing', 'typing_edit_message']);

/** What is wrong with the order of events that came behind `last` in one reply, if anything. */
export function wrongOrder(events: readonly Json[], last: number): string[] {
  const wrong: string[] = [];
  let before = last;
  for (const { id, type } of events) {
    if (id <= before) wrong.push(`event ${id} (${type}) came behind ${before}`);
    before = Math.max(before, id);
  }
  return wrong;
}

/** The events that a reader got, and those that the same queue gets at the end, without any faults. */
export interface Comparison {
  readonly name: string;
  readonly heard: readonly Heard[];
  readonly told: readonly Heard[];
  /** Both began at or before this number, which they need not have heard. */
  readonly after: number;
  /** Whether a message is no longer visible to anyone, so that it is not delivered at the end. */
  readonly isGone: (id: number) => boolean;
  /** Messages that could be seen at one time and not at another, since the reader came and went. */
  readonly isFleeting: (id: number) => boolean;
}

/**
 * Compares the events of a reader with those at the end: nothing missing, nothing else, nothing twice, in the same order.
 * Visibility is decided on delivery. So messages that were deleted since are only in the earlier events, and those that
 * became visible and invisible to the reader may be in either, and so may transient events.
 */
export function wrongHearing({ name, heard, told, after, isGone, isFleeting }: Comparison): string[] {
  const wrong: string[] = [];
  const ids = heard.map(({ id }) => id);
  ids.forEach((id, i) => {
    if (i > 0 && id <= (ids[i - 1] as number)) wrong.push(`${name} heard ${id} behind ${ids[i - 1]}`);
  });
  const known = new Map(heard.map((each) => [each.id, each]));
  const again = new Map(told.map((each) => [each.id, each]));
  const excused = ({ type, messages }: Heard, is: (id: number) => boolean): boolean =>
    momentary.has(type) || messages.some(is);
  for (const each of told) {
    if (each.id <= after) continue;
    const same = known.get(each.id);
    if (same === undefined) {
      if (!excused(each, isFleeting)) wrong.push(`${name} never heard ${saying(each)}`);
    } else if (same.type !== each.type) {
      wrong.push(`${name} heard ${saying(same)}, which is ${saying(each)} now`);
    }
  }
  for (const each of heard) {
    if (each.id <= after || again.has(each.id)) continue;
    if (!excused(each, (id) => isGone(id) || isFleeting(id)))
      wrong.push(`${name} heard ${saying(each)}, which nobody is told now`);
  }
  return wrong;
}

const saying = ({ id, type, messages }: Heard): string =>
  `event ${id} (${type}${messages.length > 0 ? ` of ${messages.slice(0, 3).join(', ')}` : ''})`;
