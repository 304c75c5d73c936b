import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { pathId, text } from './parameter.ts';

const source = 'companion facts 4.2';

export const createPlayground = endpoint({
  id: 'playgrounds.create',
  route: 'POST /api/v1/realm/playgrounds',
  source,
  description: 'Adds a playground: a page of the web where code in a message can be tried out.',
  access: 'administrator',
  parameters: {
    name: text('The name that clients show.'),
    pygments_language: text(
      'The language of the code blocks for which it is offered, at most 40 characters.',
    ),
    url_template: text('The address (RFC 6570), with the one variable `code`.'),
  },
  reply: z.object({ id: z.int() }),
  needs: { table: writes },
});

export const deletePlayground = endpoint({
  id: 'playgrounds.delete',
  route: 'DELETE /api/v1/realm/playgrounds/{playground_id}',
  source,
  description: 'Deletes a playground.',
  access: 'administrator',
  parameters: { playground_id: pathId('The ID of the playground.') },
  needs: { table: writes },
});
