import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { savedSnippetFields } from './objects.ts';
import { optional, pathId, text } from './parameter.ts';

const saved_snippet_id = pathId('The ID of the snippet.');
const title = text('The title, of 1 to 60 characters.');
const content = text('The text, in Markdown, as long as a message may be.');

export const listSavedSnippets = endpoint({
  id: 'savedSnippets.list',
  route: 'GET /api/v1/saved_snippets',
  source: 'https://zulip.com/api/get-saved-snippets, companion facts 2.2',
  description: "Lists the caller's saved snippets.",
  access: 'user',
  reply: z.object({ saved_snippets: z.array(z.object(savedSnippetFields)) }),
});

export const createSavedSnippet = endpoint({
  id: 'savedSnippets.create',
  route: 'POST /api/v1/saved_snippets',
  source: 'https://zulip.com/api/create-saved-snippet, companion facts 2.2',
  description: 'Saves a snippet of text, which nobody else sees.',
  access: 'user',
  parameters: { title, content },
  reply: z.object({ saved_snippet_id: z.int() }),
  needs: { table: writes },
});

export const updateSavedSnippet = endpoint({
  id: 'savedSnippets.update',
  route: 'PATCH /api/v1/saved_snippets/{saved_snippet_id}',
  source: 'https://zulip.com/api/edit-saved-snippet, companion facts 2.2',
  description: 'Changes a saved snippet.',
  access: 'user',
  parameters: { saved_snippet_id, title: optional(title), content: optional(content) },
  notFound: true,
  needs: { table: writes },
});

export const deleteSavedSnippet = endpoint({
  id: 'savedSnippets.delete',
  route: 'DELETE /api/v1/saved_snippets/{saved_snippet_id}',
  source: 'https://zulip.com/api/delete-saved-snippet, companion facts 2.2',
  description: 'Deletes a saved snippet.',
  access: 'user',
  parameters: { saved_snippet_id },
  notFound: true,
  needs: { table: [...reads, 'PutItem', 'UpdateItem', 'DeleteItem'] },
});
