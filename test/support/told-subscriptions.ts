import { isHarmless } from '../../shared/domain/event/listener.ts';
import { dependsOnItems, entriesOf, type Slot } from '../../shared/log/slot.ts';
import type { Send } from '../../shared/table/table.ts';

type Key = { readonly pk: string; readonly sk: string };

interface Element {
  readonly Put?: { readonly Item: Slot };
  readonly Update?: { readonly Key: Key; readonly UpdateExpression: string };
}

/** Whether a key is that of a subscription. */
const isSubscription = ({ pk, sk }: Key): boolean => pk.includes('/user/') && sk.startsWith('channel/');

/**
 * Watches transactions: one that makes a user follow a channel must say so in the log, by an entry after which readers
 * forget what they know of channels, and which they let settle. Calls `onSilent` for each that does not.
 */
export const watchingSubscriptions =
  (onSilent: (items: readonly unknown[]) => void, onTold: () => void = () => {}) =>
  (store: Send): Send =>
  async (command) => {
    const { TransactItems = [] } = (command as { readonly input: { readonly TransactItems?: Element[] } })
      .input;
    const begins = ({ Put, Update }: Element): boolean =>
      (Put !== undefined && isSubscription(Put.Item)) ||
      (Update !== undefined && isSubscription(Update.Key) && Update.UpdateExpression.includes('since'));
    if (TransactItems.some(begins)) {
      const slots = TransactItems.flatMap(({ Put }) =>
        Put?.Item.seq !== undefined && 'width' in Put.Item ? [Put.Item] : [],
      );
      const isTold = slots.some((slot) => dependsOnItems(slot) && !entriesOf(slot).every(isHarmless));
      if (isTold) onTold();
      else onSilent(TransactItems);
    }
    return store(command);
  };
