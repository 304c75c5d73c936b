import * as z from 'zod/mini';
import { endpoint, reads } from './endpoint.ts';
import { integer, optional, pathId } from './parameter.ts';

export const getChannelEmailAddress = endpoint({
  id: 'channels.getEmailAddress',
  method: 'GET',
  path: '/api/v1/streams/{stream_id}/email_address',
  source: 'specification 4.7, wire facts 9',
  description:
    'Tells the address at which the channel takes mail from the caller; empty where no mail is taken.',
  access: 'user',
  parameters: {
    stream_id: pathId('The ID of the channel.'),
    sender_id: optional(
      integer('Who appears as the sender: the caller, a bot of theirs, or, if absent, the service itself.'),
    ),
  },
  reply: z.object({ email: z.string() }),
  errors: ['BAD_REQUEST'],
  needs: { table: [...reads, 'PutItem'], settings: ['MAIL_DOMAIN'] },
});
