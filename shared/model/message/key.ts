import type { MessageSlot } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Condition } from '../../table/write.ts';

export const messageKey = (realm: string, id: number): Key<'slot'> => key('slot', { realm, seq: id });

/** Holds a change of a message to what was seen: it is still there, and in the same conversation. */
export const stillThere = ({ conversation }: Pick<MessageSlot, 'conversation'>): Condition => ({
  equals: { kind: 'message', conversation },
});

/** The same for a change that must know all of its earlier versions: nobody else edited or moved it meanwhile. */
export const stillTheSame = (message: MessageSlot): Condition => ({
  equals: { ...stillThere(message).equals, revision: message.revision },
});
