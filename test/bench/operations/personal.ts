import { type Call, channelIdOf, type Operation, operation, plain, talked } from '../operation.ts';

const newSnippet = async (call: Call): Promise<number> =>
  (await call('savedSnippets.create', 'guest', { title: 'Hello', content: 'Dear all' })).saved_snippet_id;

/** Does something with a snippet that is saved for it. */
const toSnippet = (name: string, parameters: Readonly<Record<string, unknown>> = {}): Operation =>
  operation({
    name,
    as: 'guest',
    repeatable: false,
    prepare: newSnippet,
    request: (saved_snippet_id) => ({ path: { saved_snippet_id }, parameters }),
  });

const newView = async (call: Call): Promise<string> => {
  const fragment = `narrow/topic/${crypto.randomUUID()}`;
  await call('navigationViews.add', 'guest', { fragment, is_pinned: true, name: fragment });
  return fragment;
};

/** Does something with a navigation view that is added for it. */
const toView = (name: string, parameters: Readonly<Record<string, unknown>> = {}): Operation =>
  operation({
    name,
    as: 'guest',
    repeatable: false,
    prepare: newView,
    request: (fragment) => ({ path: { fragment }, parameters }),
  });

/** A draft to a channel. */
const draftTo = async (call: Call) => ({
  type: 'stream',
  to: [await channelIdOf(call, 'general')],
  topic: 'lunch',
  content: 'Soup?',
});

const newDraft = async (call: Call) => {
  const draft = await draftTo(call);
  const { ids } = await call('drafts.create', 'member', { drafts: [draft] });
  return { draft, draft_id: ids[0] as number };
};

/** A message for much later. */
const scheduledTo = async (call: Call) => ({
  type: 'channel',
  to: await channelIdOf(call, 'general'),
  topic: 'lunch',
  content: 'Soup?',
  scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 30 * 86_400,
});

const newScheduled = async (call: Call): Promise<number> =>
  (await call('scheduledMessages.create', 'member', await scheduledTo(call))).scheduled_message_id;

/** A message to be reminded of much later. */
const reminderOf = async (call: Call) => ({
  message_id: (await talked(call, 'admin', 'a topic', 1))[0],
  scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 30 * 86_400,
});
const newUser = async (call: Call, label: string): Promise<number> =>
  (await call('users.create', 'admin', { email: `${label}@example.com`, full_name: label })).user_id;

/** What belongs to one person alone: drafts and saved snippets. */
export const personalOperations: readonly Operation[] = [
  plain('navigationViews.list', 'guest'),
  operation({
    name: 'navigationViews.add',
    as: 'guest',
    repeatable: false,
    prepare: async () => `narrow/topic/${crypto.randomUUID()}`,
    request: (fragment) => ({ parameters: { fragment, is_pinned: true, name: fragment } }),
  }),
  toView('navigationViews.update', { is_pinned: false }),
  toView('navigationViews.remove'),
  plain('savedSnippets.list', 'guest'),
  operation({
    name: 'savedSnippets.create',
    as: 'guest',
    repeatable: false,
    prepare: async () => ({ title: 'Hello', content: 'Dear all' }),
    request: (parameters) => ({ parameters }),
  }),
  toSnippet('savedSnippets.update', { title: 'Hi' }),
  toSnippet('savedSnippets.delete'),
  plain('bots.getStorage', 'bot'),
  plain('bots.updateStorage', 'bot', (n) => ({ parameters: { storage: { state: `${n}` } } })),
  operation({
    name: 'bots.removeStorage',
    as: 'bot',
    repeatable: false,
    prepare: (call) => call('bots.updateStorage', 'bot', { storage: { state: 'x' } }),
    request: () => ({ parameters: { keys: ['state'] } }),
  }),
  plain('scheduledMessages.list', 'member'),
  operation({
    name: 'scheduledMessages.create',
    as: 'member',
    repeatable: false,
    prepare: scheduledTo,
    request: (parameters) => ({ parameters }),
  }),
  operation({
    name: 'scheduledMessages.update',
    as: 'member',
    repeatable: true,
    prepare: newScheduled,
    request: (scheduled_message_id, n) => ({
      path: { scheduled_message_id },
      parameters: { content: `Soup ${n}?` },
    }),
  }),
  operation({
    name: 'scheduledMessages.delete',
    as: 'member',
    repeatable: false,
    prepare: newScheduled,
    request: (scheduled_message_id) => ({ path: { scheduled_message_id } }),
  }),
  plain('reminders.list', 'member'),
  operation({
    name: 'reminders.create',
    as: 'member',
    repeatable: false,
    prepare: reminderOf,
    request: (parameters) => ({ parameters }),
  }),
  operation({
    name: 'reminders.delete',
    as: 'member',
    repeatable: false,
    prepare: async (call) =>
      (await call('reminders.create', 'member', await reminderOf(call))).reminder_id as number,
    request: (reminder_id) => ({ path: { reminder_id } }),
  }),
  plain('users.listAlertWords', 'member'),
  plain('users.addAlertWords', 'member', () => ({ parameters: { alert_words: ['Tea'] } })),
  plain('users.removeAlertWords', 'member', () => ({ parameters: { alert_words: ['tea'] } })),
  operation({
    name: 'users.mute',
    as: 'member',
    repeatable: false,
    prepare: (call, n) => newUser(call, `muted${n}`),
    request: (muted_user_id) => ({ path: { muted_user_id } }),
  }),
  operation({
    name: 'users.unmute',
    as: 'member',
    repeatable: false,
    prepare: async (call, n) => {
      const muted_user_id = await newUser(call, `unmuted${n}`);
      await call('users.mute', 'member', {}, { path: { muted_user_id } });
      return muted_user_id;
    },
    request: (muted_user_id) => ({ path: { muted_user_id } }),
  }),
  plain('drafts.list', 'member'),
  operation({
    name: 'drafts.create',
    as: 'member',
    repeatable: false,
    prepare: draftTo,
    request: (draft) => ({ parameters: { drafts: [draft] } }),
  }),
  operation({
    name: 'drafts.replace',
    as: 'member',
    repeatable: true,
    prepare: newDraft,
    request: ({ draft, draft_id }, n) => ({
      path: { draft_id },
      parameters: { draft: { ...draft, content: `Soup ${n}?` } },
    }),
  }),
  operation({
    name: 'drafts.delete',
    as: 'member',
    repeatable: false,
    prepare: newDraft,
    request: ({ draft_id }) => ({ path: { draft_id } }),
  }),
];
