import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { checkTopic, normalizedContent } from '../../model/message/message.ts';
import type { Caller } from '../../model/user/caller.ts';
import { acceptScheduled } from './accept.ts';
import { checkTime } from './due.ts';
import {
  type PlaceParameters,
  parsePlace,
  type ScheduledInput,
  type ScheduledMessage,
  type ScheduledPlace,
} from './scheduled-message.ts';

/** The parameters of a change of a scheduled message. */
interface ChangeParameters {
  readonly type?: PlaceParameters['type'] | undefined;
  readonly to?: PlaceParameters['to'] | undefined;
  readonly topic?: string | undefined;
  readonly content?: string | undefined;
  readonly scheduled_delivery_timestamp?: number | undefined;
}

/** A parsed change: whatever is not defined stays. */
interface ScheduledChange {
  readonly type: PlaceParameters['type'] | undefined;
  readonly to: PlaceParameters['to'] | undefined;
  readonly topic: string | undefined;
  readonly content: string | undefined;
  readonly deliverAt: number | undefined;
}

/** Parses a change (companion facts 2.3). Throws `BAD_REQUEST`. */
export function parseScheduledChange(parameters: ChangeParameters): ScheduledChange {
  const { type, to, topic, content, scheduled_delivery_timestamp: deliverAt } = parameters;
  if ([type, to, topic, content, deliverAt].every((value) => value === undefined))
    throw badRequest('Send what is to be changed.');
  if (type !== undefined && to === undefined) throw badRequest("'type' needs 'to'.");
  return {
    type,
    to,
    topic: topic === undefined ? undefined : checkTopic(topic),
    content: content === undefined ? undefined : normalizedContent(content),
    deliverAt,
  };
}

/** The message as it is after the change. `now` is in milliseconds. Throws `BAD_REQUEST`. */
export function checkScheduledChange(
  { type, to, topic, content, deliverAt }: ScheduledChange,
  before: ScheduledMessage,
  now: number,
): ScheduledInput {
  if (before.failed && deliverAt === undefined) throw badRequest('A message that failed needs a new time.');
  if (deliverAt !== undefined) checkTime(deliverAt, now);
  return {
    place: placeAfter(before.place, { type, to, topic }),
    content: content ?? before.content,
    deliverAt: deliverAt ?? before.deliverAt,
  };
}

function placeAfter(
  before: ScheduledPlace,
  { type, to, topic }: Pick<ScheduledChange, 'type' | 'to' | 'topic'>,
): ScheduledPlace {
  if (to === undefined)
    return before.kind === 'channel' && topic !== undefined ? { ...before, topic } : before;
  const kept = before.kind === 'channel' ? before.topic : undefined;
  // A message that becomes one of a channel needs a topic in the request.
  return parsePlace({ type: type ?? before.kind, to, topic: topic ?? kept });
}

/**
 * The HTML of the message after the change, once all checks of sending have passed, if its place or its text changes. Two
 * round trips; none where only the time changes.
 */
export async function accessRendered(
  outside: Outside,
  caller: Caller,
  before: ScheduledMessage,
  after: ScheduledInput,
): Promise<string> {
  if (after.place === before.place && after.content === before.content) return before.rendered;
  const { delivery } = await acceptScheduled(outside, caller, { ...before, ...after });
  return delivery.rendered.html;
}
