import { endpoint, writes } from './endpoint.ts';
import { integer, text, word } from './parameter.ts';

export const addSubmessage = endpoint({
  id: 'submessages.add',
  route: 'POST /api/v1/submessage',
  source: 'companion facts 4.8',
  description: 'Adds data to a widget, such as a vote to a poll.',
  access: 'user',
  parameters: {
    message_id: integer('The ID of the message.'),
    msg_type: word('What the data belongs to.', ['widget']),
    content: text('The data: JSON text of at most 2,000 bytes.'),
  },
  needs: { table: writes },
});
