import type { Applying, Json } from './known.ts';

/** What clients make of events about what belongs to their user alone. */
export const applyPersonal: Applying = {
  'saved_snippets/add': ({ state }, { saved_snippet }) => void state.saved_snippets.push(saved_snippet),
  'saved_snippets/update': ({ state }, { saved_snippet }) => {
    state.saved_snippets = state.saved_snippets.map((each: Json) =>
      each.id === saved_snippet.id ? saved_snippet : each,
    );
  },
  'saved_snippets/remove': ({ state }, { saved_snippet_id }) => {
    state.saved_snippets = state.saved_snippets.filter((each: Json) => each.id !== saved_snippet_id);
  },
  'drafts/add': ({ state }, { drafts }) => {
    state.drafts = newestFirst([...state.drafts, ...drafts]);
  },
  'drafts/update': ({ state }, { draft }) => {
    state.drafts = newestFirst(state.drafts.map((each: Json) => (each.id === draft.id ? draft : each)));
  },
  'drafts/remove': ({ state }, { draft_id }) => {
    state.drafts = state.drafts.filter((each: Json) => each.id !== draft_id);
  },
};

const newestFirst = (drafts: readonly Json[]): Json[] =>
  drafts.toSorted((a, b) => b.timestamp - a.timestamp || b.id - a.id);
