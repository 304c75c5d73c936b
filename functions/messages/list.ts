import { beginFetch, checkTerms, type Fetch, findWindow } from '../../shared/domain/fetch/message-fetch.ts';
import { tellByIds, tellWindow } from '../../shared/domain/fetch/message-reply.ts';
import { type ByIds, checkWindow, type Window } from '../../shared/domain/fetch/message-window.ts';
import { checkNarrow, narrowPointers } from '../../shared/domain/fetch/narrow.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import type { Context, Look } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type List = InputOf<typeof listMessages>;

/** What is asked for, and the fetch that began with it. */
interface Loaded {
  readonly asked: Window | ByIds;
  readonly fetch: Fetch;
}

async function load({ input, outside, realm, userId, known }: Look<List>): Promise<Loaded> {
  const asked = checkWindow(input);
  const terms = checkNarrow(input.narrow ?? []);
  return { asked, fetch: await beginFetch(outside, realm, userId, known, terms, asked) };
}

async function run({ input, outside, caller }: Context<List>, { asked, fetch }: Loaded) {
  const telling = {
    applyMarkdown: input.apply_markdown ?? true,
    emptyTopicName: input.allow_empty_topic_name ?? false,
    clientGravatar: input.client_gravatar ?? true,
  };
  await checkTerms(outside, caller, fetch);
  if ('ids' in asked) return tellByIds(outside, caller, fetch, asked, telling);
  return tellWindow(outside, caller, fetch, await findWindow(fetch, caller.standing, asked), telling);
}

export const handler = serve(listMessages, {
  pointers: ({ narrow }) => narrowPointers(checkNarrow(narrow ?? [])),
  load,
  run,
});
