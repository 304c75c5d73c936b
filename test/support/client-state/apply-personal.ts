import type { Applying, Json } from './known.ts';

/** What clients make of events about what belongs to their user alone. */
export const applyPersonal: Applying = {
  'navigation_view/add': ({ state }, { navigation_view }) =>
    void state.navigation_views.push(navigation_view),
  'navigation_view/update': ({ state }, { fragment, data }) => {
    state.navigation_views = state.navigation_views.map((each: Json) =>
      each.fragment === fragment ? { ...each, ...data } : each,
    );
  },
  'navigation_view/remove': ({ state }, { fragment }) => {
    state.navigation_views = state.navigation_views.filter((each: Json) => each.fragment !== fragment);
  },
  'saved_snippets/add': ({ state }, { saved_snippet }) => void state.saved_snippets.push(saved_snippet),
  'saved_snippets/update': ({ state }, { saved_snippet }) => {
    state.saved_snippets = state.saved_snippets.map((each: Json) =>
      each.id === saved_snippet.id ? saved_snippet : each,
    );
  },
  'saved_snippets/remove': ({ state }, { saved_snippet_id }) => {
    state.saved_snippets = state.saved_snippets.filter((each: Json) => each.id !== saved_snippet_id);
  },
  'scheduled_messages/add': ({ state }, { scheduled_messages }) => {
    state.scheduled_messages = nextFirst([...state.scheduled_messages, ...scheduled_messages]);
  },
  'scheduled_messages/update': ({ state }, { scheduled_message }) => {
    const { scheduled_message_id: id } = scheduled_message;
    const others = state.scheduled_messages.filter((each: Json) => each.scheduled_message_id !== id);
    state.scheduled_messages = nextFirst([...others, scheduled_message]);
  },
  'scheduled_messages/remove': ({ state }, { scheduled_message_id: id }) => {
    state.scheduled_messages = state.scheduled_messages.filter(
      (each: Json) => each.scheduled_message_id !== id,
    );
  },
  'reminders/add': ({ state }, { reminders }) => {
    state.reminders = [...state.reminders, ...reminders].sort(
      (a, b) =>
        a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a.reminder_id - b.reminder_id,
    );
  },
  'reminders/remove': ({ state }, { reminder_id }) => {
    state.reminders = state.reminders.filter((each: Json) => each.reminder_id !== reminder_id);
  },
  alert_words: ({ state }, { alert_words }) => {
    state.alert_words = alert_words;
  },
  muted_users: ({ state }, { muted_users }) => {
    state.muted_users = muted_users;
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

const nextFirst = (scheduled: readonly Json[]): Json[] =>
  scheduled.toSorted(
    (a, b) =>
      a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp ||
      a.scheduled_message_id - b.scheduled_message_id,
  );
