import * as z from 'zod/mini';
import { MAX_DRAFTS } from '../domain/drafts/draft.ts';
import { endpoint, writes } from './endpoint.ts';
import { draftFields } from './objects.ts';
import { json, pathId } from './parameter.ts';

const draft_id = pathId('The ID of the draft.');

const draft = z.strictObject({
  type: z.enum(['', 'private', 'stream']),
  to: z.array(z.int()),
  topic: z.string(),
  content: z.string(),
  timestamp: z.optional(z.number().check(z.minimum(0), z.maximum(Number.MAX_SAFE_INTEGER))),
});

/** The events of one request stand in one item of the log, which takes 400 KB. */
const size = { bytes: 256 * 1024 };

export const listDrafts = endpoint({
  id: 'drafts.list',
  route: 'GET /api/v1/drafts',
  source: 'https://zulip.com/api/get-drafts, companion facts 2.1',
  description: "Lists the caller's drafts, the one that was changed last first.",
  access: 'user',
  reply: z.object({ count: z.int(), drafts: z.array(z.object(draftFields)) }),
});

export const createDrafts = endpoint({
  id: 'drafts.create',
  route: 'POST /api/v1/drafts',
  source: 'https://zulip.com/api/create-drafts, companion facts 2.1',
  description: 'Saves drafts of messages, all or none. Nobody else sees them.',
  access: 'user',
  parameters: {
    drafts: json(
      `The drafts, at most ${MAX_DRAFTS}: ` +
        '`type` is `stream`, `private` or empty, `to` one channel or the users, `timestamp` the time ' +
        'of the last change in seconds.',
      z.array(draft).check(z.minLength(1), z.maxLength(MAX_DRAFTS)),
    ),
  },
  size,
  reply: z.object({ ids: z.array(z.int()) }),
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const replaceDraft = endpoint({
  id: 'drafts.replace',
  route: 'PATCH /api/v1/drafts/{draft_id}',
  source: 'https://zulip.com/api/edit-draft, companion facts 2.1',
  description: 'Replaces a draft as a whole.',
  access: 'user',
  parameters: { draft_id, draft: json('The new draft, as in `POST /drafts`.', draft) },
  size,
  notFound: true,
  needs: { table: writes },
});

export const deleteDraft = endpoint({
  id: 'drafts.delete',
  route: 'DELETE /api/v1/drafts/{draft_id}',
  source: 'https://zulip.com/api/delete-draft, companion facts 2.1',
  description: 'Deletes a draft.',
  access: 'user',
  parameters: { draft_id },
  notFound: true,
  needs: { table: [...writes, 'DeleteItem'] },
});
