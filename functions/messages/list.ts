import type { Fetch } from '../../shared/domain/fetch/fetch.ts';
import { beginFetch, checkTerms } from '../../shared/domain/fetch/message-fetch.ts';
import { tellByIds, tellWindow } from '../../shared/domain/fetch/message-reply.ts';
import { type ByIds, checkWindow, type Window } from '../../shared/domain/fetch/message-window.ts';
import { checkNarrow, narrowLookupKeys } from '../../shared/domain/fetch/narrow.ts';
import { placesLookupKeys } from '../../shared/domain/fetch/places.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type List = InputOf<typeof listMessages>;

/** What is asked for, and the fetch that began with it. */
interface Loaded {
  readonly asked: Window | ByIds;
  readonly fetch: Fetch;
}

function pointers({ narrow, message_ids: ids }: List, email: string): LookupKey[] {
  const terms = checkNarrow(narrow ?? []);
  return [...narrowLookupKeys(terms), ...(ids === undefined ? placesLookupKeys(terms, email) : [])];
}

async function load(look: UnverifiedRequest<List>): Promise<Loaded> {
  const { input } = look;
  const asked = checkWindow(input);
  return { asked, fetch: await beginFetch(look, checkNarrow(input.narrow ?? []), asked) };
}

async function run({ input, outside, caller }: Request<List>, { asked, fetch }: Loaded) {
  const telling = {
    applyMarkdown: input.apply_markdown ?? true,
    emptyTopicName: input.allow_empty_topic_name ?? false,
    clientGravatar: input.client_gravatar ?? true,
  };
  // The messages are found while the check goes on; a refusal throws them away.
  const [checked, found] = await Promise.allSettled([
    checkTerms(outside, caller, fetch),
    'ids' in asked
      ? tellByIds(outside, caller, fetch, asked, telling)
      : tellWindow(outside, caller, fetch, asked, telling),
  ]);
  if (checked.status === 'rejected') throw checked.reason;
  if (found.status === 'rejected') throw found.reason;
  return found.value;
}

export const handler = serve(listMessages, { keys: pointers, load, run });
