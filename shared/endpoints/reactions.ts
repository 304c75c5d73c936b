import { reactionTypes } from '../model/message/reaction.ts';
import { endpoint, writes } from './endpoint.ts';
import { optional, pathId, text, word } from './parameter.ts';

const messageId = pathId('The ID of the message.');
const emojiCode = optional(
  text('The code points of a built-in emoji, or the ID of a custom one. Default: that of the name.'),
);
const reactionType = optional(word('The kind of emoji. Default: that of the name.', reactionTypes));

export const addReaction = endpoint({
  id: 'reactions.add',
  route: 'POST /api/v1/messages/{message_id}/reactions',
  source: 'https://zulip.com/api/add-reaction, wire facts 14.4',
  description: 'Adds an emoji reaction to a message.',
  access: 'user',
  parameters: {
    message_id: messageId,
    emoji_name: text('The name of the emoji.'),
    emoji_code: emojiCode,
    reaction_type: reactionType,
  },
  errors: ['REACTION_ALREADY_EXISTS'],
  needs: { table: writes },
});

export const removeReaction = endpoint({
  id: 'reactions.remove',
  route: 'DELETE /api/v1/messages/{message_id}/reactions',
  source: 'https://zulip.com/api/remove-reaction, wire facts 14.4',
  description: "Removes one of the caller's reactions from a message.",
  access: 'user',
  parameters: {
    message_id: messageId,
    emoji_name: optional(text('The name of the emoji; not needed if the code is sent.')),
    emoji_code: emojiCode,
    reaction_type: reactionType,
  },
  errors: ['REACTION_DOES_NOT_EXIST'],
  needs: { table: [...writes, 'DeleteItem'] },
});
