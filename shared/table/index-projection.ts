import type { ItemOf } from './keys.ts';

/**
 * What an index entry carries besides the keys: enough to decide, without reading the message itself, whether
 * a message matches a narrow and whether it is unread. Every attribute here is written again for each index, so
 * the list stays short.
 */
export const indexProjection = ['senderId', 'topic', 'readBySender', 'readIn', 'mentions'] as const;

/** What an index carries of a message. The id of the message is the number of its slot, which is its sort key. */
export type IndexEntry = Pick<
  Extract<ItemOf<'slot'>, { readonly kind: 'message' }>,
  'sk' | (typeof indexProjection)[number]
>;
