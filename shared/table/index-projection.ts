/**
 * What an index entry carries besides the keys: enough to decide, without reading the message itself, whether
 * a message matches a narrow and whether it is unread. Every attribute here is written again for each index, so
 * the list stays short.
 */
export const indexProjection = ['senderId', 'topic', 'readBySender', 'readIn', 'mentions'] as const;
