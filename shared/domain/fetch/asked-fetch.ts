import type { LookupKey } from '../../kernel/lookup.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import { type ByIds, checkWindow, type GivenWindow, type Window } from './message-window.ts';
import { type AskedTerm, checkNarrow, type GivenNarrow, narrowLookupKeys } from './narrow.ts';
import { placesLookupKeys } from './places.ts';

/** Which messages somebody asks for, before anything is looked up, and in what form. */
export interface AskedFetch {
  readonly terms: readonly AskedTerm[];
  readonly window: Window | ByIds;
  readonly telling: RenderOptions;
}

/** The parameters that say in what form messages are wanted (specification 4.1). */
interface GivenForm {
  readonly apply_markdown?: boolean | undefined;
  readonly allow_empty_topic_name?: boolean | undefined;
  readonly client_gravatar?: boolean | undefined;
}

/** The form in which messages are wanted. */
export const parseForm = (given: GivenForm): RenderOptions => ({
  applyMarkdown: given.apply_markdown ?? true,
  emptyTopicName: given.allow_empty_topic_name ?? false,
  clientGravatar: given.client_gravatar ?? true,
});

/** Interprets the parameters of a fetch. Throws `BAD_NARROW` or `BAD_REQUEST`. */
export const parseFetch = (
  given: GivenWindow & GivenForm & { readonly narrow?: GivenNarrow | null | undefined },
): AskedFetch => ({
  terms: checkNarrow(given.narrow ?? []),
  window: checkWindow(given),
  telling: parseForm(given),
});

/** The names in the narrow, and the hint where the caller's messages are. */
export const fetchLookupKeys = ({ terms, window }: AskedFetch, email: string): LookupKey[] => [
  ...narrowLookupKeys(terms),
  ...('ids' in window ? [] : placesLookupKeys(terms, email)),
];
