import type { Message } from '../../log/message.ts';
import type { Audience } from '../../log/slot.ts';

/** Who hears what happens to a message: those who take part in its conversation. */
export const hearersOf = ({
  id,
  channelId,
  people,
}: Pick<Message, 'id' | 'channelId' | 'people'>): Audience =>
  channelId === undefined ? { message: id, users: people ?? [] } : { message: id, channel: channelId };
