import { channelIdOf, operation, plain, talked } from './operation.ts';

/*
 * What clients do all the time, in a way that is the same work at each repetition.
 */

/** A message to a channel, from a client that has a queue and may repeat it. */
export const sendToChannel = operation({
  name: 'messages.send',
  as: 'member',
  repeatable: true,
  prepare: async (call) => (await call('events.register', 'member', { fetch_event_types: [] })).queue_id,
  request: (queue_id: string, n) => ({
    parameters: {
      ...{ type: 'channel', to: 'general', topic: 'processor', queue_id },
      content: `The quick brown fox jumps over the lazy dog ${n}`,
      local_id: `${n}.01`,
    },
  }),
});

/** The newest 100 messages of a topic. */
export const fetchHundred = operation({
  name: 'messages.list',
  as: 'member',
  repeatable: true,
  prepare: async (call) => {
    await talked(call, 'admin', 'to be read', 120);
    return channelIdOf(call, 'general');
  },
  request: (channel) => ({
    query: {
      ...{ anchor: 'newest', num_before: 100, num_after: 0 },
      narrow: [
        { operator: 'channel', operand: channel },
        { operator: 'topic', operand: 'to be read' },
      ],
    },
  }),
});

/** A registration that fetches everything. */
export const registerEverything = plain('events.register', 'member', () => ({
  parameters: { apply_markdown: true },
}));

/**
 * Milliseconds that pass between two registrations. A queue lives for ten minutes without polls, and an account has 64: with
 * more than that in use at once, each registration has to end another one.
 */
export const REGISTERED_APART = 60_000;

/** A poll without news, which does not wait. */
export const pollOnce = operation({
  name: 'events.get',
  as: 'guest',
  repeatable: true,
  prepare: async (call) => {
    const { queue_id, last_event_id } = await call('events.register', 'guest', { fetch_event_types: [] });
    return { queue_id, last_event_id, dont_block: true };
  },
  request: (query) => ({ query }),
});
