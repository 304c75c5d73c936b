import type { Log } from '../../shared/log/log.ts';
import { entriesOf, type MessageEntry, type ReadEntry, type Slot } from '../../shared/log/slot.ts';

/** Every slot of a log, as it is stored. */
export const slotsOf = (log: Log): Promise<Slot[]> => log.table.all('slot', { realm: log.realm });

/** Every entry of a log, in order. */
export const entriesIn = async (log: Log): Promise<ReadEntry[]> => (await slotsOf(log)).flatMap(entriesOf);

/** The contents of the messages of a log, in order. */
export const contentsIn = async (log: Log): Promise<string[]> =>
  (await entriesIn(log)).flatMap((entry) => (entry.kind === 'message' ? [entry.content] : []));

/** A message to a channel, as the log takes it. */
export const messageTo = (
  channelId: number,
  senderId: number,
  content: string,
  overrides: Partial<MessageEntry['message']> = {},
): MessageEntry => ({
  kind: 'message',
  message: {
    senderId,
    timestamp: 1_700_000_000,
    client: 'test',
    channelId,
    topic: 'tests',
    recipientId: channelId,
    content,
    rendered: `<p>${content}</p>`,
    isMe: false,
    readBySender: false,
    conversation: `topic:${channelId}:tests`,
    ...overrides,
  },
});

/** An event for everybody, as the log takes it. */
export const eventFor = (payload: { type: string; [field: string]: unknown }, access?: true) => ({
  kind: 'event' as const,
  hearers: { everyone: 'all' as const },
  payload,
  ...(access && { access }),
});
