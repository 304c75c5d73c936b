import type { Payload, ReadEntry } from '../../log/slot.ts';
import { anonymized } from '../../model/subscription/user-access.ts';

/** A person in a `typing` event. */
interface TypingPerson {
  readonly user_id: number;
  readonly email: string;
}

export const isTyping = (entry: ReadEntry): boolean =>
  entry.kind === 'event' && entry.payload.type === 'typing';

/** The user who is typing, of a `typing` event. */
export const typistIn = ({ sender }: Payload): number => (sender as TypingPerson).user_id;

/** The people of a direct conversation in which somebody is typing; none for any other event. */
const recipientsIn = ({ type, recipients }: Payload): readonly TypingPerson[] =>
  type === 'typing' && recipients !== undefined ? (recipients as readonly TypingPerson[]) : [];

export const recipientIdsIn = (payload: Payload): number[] =>
  recipientsIn(payload).map(({ user_id }) => user_id);

/** The event without the addresses of recipients whom the listener may not see. */
export function withoutHiddenRecipients(payload: Payload, hidden: ReadonlySet<number>): Payload {
  const people = recipientsIn(payload);
  if (!people.some(({ user_id }) => hidden.has(user_id))) return payload;
  const shown = ({ user_id, email }: TypingPerson): TypingPerson => ({
    user_id,
    email: hidden.has(user_id) ? anonymized(user_id).email : email,
  });
  return { ...payload, recipients: people.map(shown) };
}
