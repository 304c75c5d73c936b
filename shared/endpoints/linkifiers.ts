import * as z from 'zod/mini';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { linkifierFields } from './objects.ts';
import { ids, json, optional, pathId, text } from './parameter.ts';

const source = 'companion facts 4.1';
const filterId = pathId('The ID of the linkifier.');

/** The parameters of creating and of updating a linkifier. */
const properties = {
  pattern: text('What becomes a link: a regular expression in the syntax of RE2 with named groups.'),
  url_template: text('The address (RFC 6570), with a variable for each named group.'),
  example_input: optional(text('A text that matches; empty text removes it.')),
  reverse_template: optional(
    text('How clients make the text of an address, with `{name}` for each group; empty text removes it.'),
  ),
  alternative_url_templates: optional(
    json(
      'Other templates of addresses that clients may turn into text.',
      z.array(z.string()).check(z.maxLength(100)),
    ),
  ),
} as const;

export const listLinkifiers = endpoint({
  id: 'linkifiers.list',
  route: 'GET /api/v1/realm/linkifiers',
  source,
  description: 'Lists the linkifiers of the organization, in order of application.',
  access: 'user',
  reply: z.object({ linkifiers: z.array(z.object(linkifierFields)) }),
  needs: { table: readsItems },
});

export const reorderLinkifiers = endpoint({
  id: 'linkifiers.reorder',
  route: 'PATCH /api/v1/realm/linkifiers',
  source,
  description: 'Reorders the linkifiers. Where two match the same text, the first one makes the link.',
  access: 'administrator',
  parameters: { ordered_linkifier_ids: ids('The IDs of all linkifiers, each once.') },
  needs: { table: writes },
});

export const createLinkifier = endpoint({
  id: 'linkifiers.create',
  route: 'POST /api/v1/realm/filters',
  source,
  description: 'Adds a linkifier, after all others. It applies to messages that are sent from now on.',
  access: 'administrator',
  parameters: properties,
  reply: z.object({ id: z.int() }),
  needs: { table: writes },
});

export const updateLinkifier = endpoint({
  id: 'linkifiers.update',
  route: 'PATCH /api/v1/realm/filters/{filter_id}',
  source,
  description: 'Updates a linkifier. Messages that were sent before stay as they are.',
  access: 'administrator',
  parameters: { filter_id: filterId, ...properties },
  needs: { table: writes },
});

export const deleteLinkifier = endpoint({
  id: 'linkifiers.delete',
  route: 'DELETE /api/v1/realm/filters/{filter_id}',
  source,
  description: 'Deletes a linkifier. Messages that were sent before stay as they are.',
  access: 'administrator',
  parameters: { filter_id: filterId },
  needs: { table: writes },
});
