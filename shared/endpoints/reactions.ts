import * as z from 'zod/mini';
import { reactionTypes } from '../model/message/reaction.ts';
import { endpoint, writes } from './endpoint.ts';
import { optional, pathId, text, word } from './parameter.ts';

const messageId = pathId('The ID of the message.');
const emojiCode = optional(
  text('Code points of a built-in emoji, the ID of a custom one; follows from the name if absent.'),
);
const reactionType = optional(word('The kind of emoji; follows from the name if absent.', reactionTypes));

export const addReaction = endpoint({
  id: 'reactions.add',
  method: 'POST',
  path: '/api/v1/messages/{message_id}/reactions',
  source: 'https://zulip.com/api/add-reaction, wire facts 14.4',
  description: 'Reacts to a message with an emoji.',
  access: 'user',
  parameters: {
    message_id: messageId,
    emoji_name: text('The name of the emoji.'),
    emoji_code: emojiCode,
    reaction_type: reactionType,
  },
  reply: z.object({}),
  errors: ['REACTION_ALREADY_EXISTS'],
  needs: { table: writes },
});

export const removeReaction = endpoint({
  id: 'reactions.remove',
  method: 'DELETE',
  path: '/api/v1/messages/{message_id}/reactions',
  source: 'https://zulip.com/api/remove-reaction, wire facts 14.4',
  description: "Takes one of the caller's reactions to a message back.",
  access: 'user',
  parameters: {
    message_id: messageId,
    emoji_name: optional(text('The name of the emoji; the code is enough.')),
    emoji_code: emojiCode,
    reaction_type: reactionType,
  },
  reply: z.object({}),
  errors: ['REACTION_DOES_NOT_EXIST'],
  needs: { table: [...writes, 'DeleteItem'] },
});
