import { channelIdOf, idOf, type Operation, operation, plain, talked } from '../operation.ts';
import { pollOnce, registerEverything } from '../usual-calls.ts';

const channel = { type: 'channel', to: 'general' } as const;
const TEXT = 'The quick brown fox jumps over the lazy dog';

/** Sends to a place that has been written to before. */
const sends = (
  variant: string,
  place: (ids: { readonly guest: number; readonly admin: number }) => Readonly<Record<string, unknown>>,
  more: (n: number, queue_id: string) => Readonly<Record<string, unknown>> = () => ({}),
): Operation =>
  operation({
    name: `messages.send:${variant}`,
    as: 'member',
    repeatable: true,
    prepare: async (call) => {
      const { queue_id } = await call('events.register', 'member', { fetch_event_types: [] });
      const where = place({ guest: await idOf(call, 'guest'), admin: await idOf(call, 'admin') });
      await call('messages.send', 'member', { ...where, content: TEXT, ...more(-1, queue_id) });
      return { where, queue_id };
    },
    request: ({ where, queue_id }, n) => ({
      parameters: { ...where, content: `${TEXT} ${n}`, ...more(n, queue_id) },
    }),
  });

/** Does something with one of so many messages of the member's, another one for each `n`. */
const toOneOf = (
  name: string,
  as: Operation['as'],
  count: number,
  change: (n: number, message_id: number) => ReturnType<Awaited<ReturnType<Operation['prepared']>>>,
): Operation =>
  operation({
    name,
    as,
    repeatable: count > 1,
    prepare: (call, n) => talked(call, 'member', `${name} ${n}`, count),
    request: (ids, n) => change(Math.floor(n / ids.length), ids[n % ids.length] ?? 0),
  });

/** Lists messages where twenty were written. */
const lists = (variant: string, query: (channelId: number) => Readonly<Record<string, unknown>>) =>
  operation({
    name: `messages.list:${variant}`,
    as: 'member',
    repeatable: true,
    prepare: async (call) => {
      await talked(call, 'admin', 'to be read', 20);
      const to = [await idOf(call, 'member')];
      await call('messages.send', 'guest', { type: 'direct', to, content: TEXT });
      return channelIdOf(call, 'general');
    },
    request: (channelId) => ({ query: { num_before: 20, num_after: 0, ...query(channelId) } }),
  });

/** Marks so many unread messages as read. */
const reads = (count: number): Operation =>
  operation({
    name: `messages.updateFlags:read ${count}`,
    as: 'member',
    repeatable: false,
    prepare: (call, n) => talked(call, 'admin', `unread ${n}`, count),
    request: (messages) => ({ parameters: { messages, op: 'add', flag: 'read' } }),
  });

/** Marks the messages of a place as read. Five of them were unread. */
const marks = (
  name: string,
  where: (channelId: number, topic: string) => Readonly<Record<string, unknown>>,
): Operation =>
  operation({
    name,
    as: 'member',
    repeatable: false,
    prepare: async (call, n) => {
      const topic = `${name} ${n}`;
      await talked(call, 'admin', topic, 5);
      return where(await channelIdOf(call, 'general'), topic);
    },
    request: (parameters) => ({ parameters }),
  });

/** So many reactions one person can make to one message. */
const EMOJI = (
  'smile tada +1 heart pizza car house rocket eyes fire -1 wave clap ok check star bulb bug book key lock gift cake ' +
  'coffee tea beer apple dog cat tree rose moon cloud zap bell ship bus bike camera phone pencil hammer anchor'
).split(' ');

/** Messages: sending, reading, changing, marking them, and reactions to them. */
export const messageOperations: readonly Operation[] = [
  sends('channel', () => ({ ...channel, topic: 'bench' })),
  sends(
    'channel with local_id',
    () => ({ ...channel, topic: 'echo' }),
    (n, queue_id) => ({ queue_id, local_id: `${n}.1` }),
  ),
  sends('direct', ({ guest }) => ({ type: 'direct', to: [guest] })),
  sends('direct to two', ({ guest, admin }) => ({ type: 'direct', to: [guest, admin] })),
  operation({
    name: 'messages.send:with a mention',
    as: 'member',
    repeatable: true,
    prepare: (call) => talked(call, 'member', 'mentions', 1, '@**Adam Admin**'),
    request: (_, n) => ({
      parameters: { ...channel, topic: 'mentions', content: `${TEXT} @**Adam Admin** :tada: ${n}` },
    }),
  }),
  sends(
    'wildcard mention',
    () => ({ ...channel, topic: 'wildcards' }),
    () => ({ content: '@**all** hello' }),
  ),
  operation({
    name: 'messages.send:new topic',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (to, n) => ({ parameters: { type: 'channel', to, topic: `about ${n}`, content: TEXT } }),
  }),
  lists('newest of a channel', (id) => ({ anchor: 'newest', narrow: [['channel', id]] })),
  lists('newest of a topic', (id) => ({
    anchor: 'newest',
    narrow: [
      ['channel', id],
      ['topic', 'to be read'],
    ],
  })),
  lists('direct messages', () => ({ anchor: 'newest', narrow: [['is', 'dm']] })),
  lists('links of a channel', (id) => ({
    anchor: 'newest',
    narrow: [
      ['channel', id],
      ['has', 'link'],
    ],
  })),
  lists('search', () => ({ anchor: 'newest', narrow: [['search', 'lazy dogs']] })),
  operation({
    name: 'messages.matchesNarrow',
    as: 'member',
    repeatable: true,
    prepare: (call) => talked(call, 'admin', 'matching', 5),
    request: (msg_ids) => ({ parameters: { msg_ids, narrow: [['has', 'link']] } }),
  }),
  plain('messages.render', 'member', () => ({ parameters: { content: `${TEXT} @**Adam Admin**` } })),
  lists('newest of all', () => ({ anchor: 'newest' })),
  lists('first unread', () => ({ anchor: 'first_unread', num_after: 20 })),
  toOneOf('messages.get', 'guest', 2, (_, message_id) => ({ path: { message_id } })),
  reads(1),
  reads(20),
  marks('messages.updateFlagsForNarrow', (stream_id) => ({
    anchor: 'newest',
    num_before: 20,
    num_after: 0,
    narrow: [['channel', stream_id]],
    op: 'add',
    flag: 'read',
  })),
  marks('messages.markAllAsRead', () => ({})),
  marks('messages.markChannelAsRead', (stream_id) => ({ stream_id })),
  marks('messages.markTopicAsRead', (stream_id, topic_name) => ({ stream_id, topic_name })),
  operation({
    name: 'messages.updateFlags:star',
    as: 'member',
    repeatable: true,
    prepare: (call, n) => talked(call, 'admin', `starred ${n}`, 50),
    request: (ids, n) => ({
      parameters: {
        messages: [ids[n % ids.length]],
        op: Math.floor(n / ids.length) % 2 === 0 ? 'add' : 'remove',
        flag: 'starred',
      },
    }),
  }),
  toOneOf('messages.update:content', 'member', 20, (round, message_id) => ({
    path: { message_id },
    parameters: { content: `${TEXT}, and again: ${round}` },
  })),
  operation({
    name: 'messages.update:topic',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => ({ n, ids: await talked(call, 'owner', `before ${n}`, 1) }),
    request: ({ n, ids }) => ({
      path: { message_id: ids[0] ?? 0 },
      parameters: { topic: `after ${n}`, propagate_mode: 'change_one' },
    }),
  }),
  toOneOf('messages.delete', 'owner', 1, (_, message_id) => ({ path: { message_id } })),
  operation({
    name: 'messages.getHistory',
    as: 'member',
    repeatable: true,
    prepare: async (call, n) => {
      const [message_id = 0] = await talked(call, 'member', `history ${n}`, 1);
      await call('messages.update', 'member', { content: 'Edited.' }, { path: { message_id } });
      return message_id;
    },
    request: (message_id) => ({ path: { message_id } }),
  }),
  toOneOf('reactions.add', 'guest', 40, (round, message_id) => ({
    path: { message_id },
    parameters: { emoji_name: EMOJI[round % EMOJI.length] },
  })),
  operation({
    name: 'reactions.remove',
    as: 'guest',
    repeatable: false,
    prepare: async (call, n) => {
      const [message_id = 0] = await talked(call, 'member', `reactions ${n}`, 1);
      await call('reactions.add', 'guest', { emoji_name: 'tada' }, { path: { message_id } });
      return message_id;
    },
    request: (message_id) => ({ path: { message_id }, parameters: { emoji_name: 'tada' } }),
  }),
  operation({
    name: 'submessages.add',
    as: 'guest',
    repeatable: false,
    prepare: async (call, n) => (await talked(call, 'member', `polls ${n}`, 1, '/poll Noon?\nYes'))[0] ?? 0,
    request: (message_id) => ({
      parameters: { message_id, msg_type: 'widget', content: '{"type":"vote","key":"canned,0","vote":1}' },
    }),
  }),
  operation({
    name: 'messages.getReadReceipts',
    as: 'member',
    repeatable: true,
    prepare: async (call, n) => {
      await call('realm.update', 'owner', { enable_read_receipts: true });
      const [message_id = 0] = await talked(call, 'member', `receipts ${n}`, 1);
      await call('messages.updateFlags', 'guest', { messages: [message_id], op: 'add', flag: 'read' });
      return message_id;
    },
    request: (message_id) => ({ path: { message_id } }),
  }),
  operation({
    name: 'messages.report',
    as: 'member',
    repeatable: true,
    prepare: async (call, n) => {
      await call('subscriptions.add', 'owner', {
        subscriptions: [{ name: 'moderation' }],
        invite_only: true,
      });
      const stream_id = await channelIdOf(call, 'moderation');
      await call('realm.update', 'owner', { moderation_request_channel_id: stream_id });
      const [message_id = 0] = await talked(call, 'member', `reports ${n}`, 1);
      return message_id;
    },
    request: (message_id) => ({ path: { message_id }, parameters: { report_type: 'spam' } }),
  }),
  operation({
    name: 'typing.send:direct',
    as: 'member',
    repeatable: true,
    prepare: (call) => idOf(call, 'guest'),
    request: (id, n) => ({ parameters: { op: n % 2 === 0 ? 'start' : 'stop', to: [id] } }),
  }),
  operation({
    name: 'typing.send:channel',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id) => ({ parameters: { type: 'channel', op: 'start', stream_id, topic: 'bench' } }),
  }),
  toOneOf('typing.sendEdit', 'member', 20, (round, message_id) => ({
    path: { message_id },
    parameters: { op: round % 2 === 0 ? 'start' : 'stop' },
  })),
  operation({
    name: 'topics.list',
    as: 'member',
    repeatable: true,
    prepare: async (call) => {
      await talked(call, 'member', 'a topic', 1);
      return channelIdOf(call, 'general');
    },
    request: (stream_id) => ({ path: { stream_id } }),
  }),
  operation({
    name: 'topics.setVisibility',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id, n) => ({
      parameters: { stream_id, topic: `watched ${n % 20}`, visibility_policy: (Math.floor(n / 20) % 3) + 1 },
    }),
  }),
  operation({
    name: 'topics.delete',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => {
      await talked(call, 'member', `over ${n}`, 3);
      return channelIdOf(call, 'general');
    },
    request: (stream_id, n) => ({ path: { stream_id }, parameters: { topic_name: `over ${n}` } }),
  }),
  operation({
    name: 'topics.mute',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id, n) => ({
      parameters: { stream_id, topic: `muted ${n % 20}`, op: n % 40 < 20 ? 'add' : 'remove' },
    }),
  }),
  { ...registerEverything, name: 'events.register:everything' },
  plain('events.register:messages only', 'bot', () => ({
    parameters: { event_types: ['message'], fetch_event_types: ['message'] },
  })),
  operation({
    name: 'events.get:a message is there',
    as: 'guest',
    repeatable: true,
    prepare: async (call) => {
      const { queue_id, last_event_id } = await call('events.register', 'guest', { fetch_event_types: [] });
      await talked(call, 'member', 'news', 1);
      return { queue_id, last_event_id };
    },
    request: (query) => ({ query }),
  }),
  operation({
    name: 'events.get:a message is there for others',
    as: 'guest',
    repeatable: true,
    prepare: async (call) => {
      const { queue_id, last_event_id } = await call('events.register', 'guest', { fetch_event_types: [] });
      const message = { type: 'channel', to: 'random', topic: 'elsewhere', content: TEXT };
      await call('messages.send', 'member', message);
      return { queue_id, last_event_id, dont_block: true };
    },
    request: (query) => ({ query }),
  }),
  { ...pollOnce, name: 'events.get:nothing is there' },
  operation({
    name: 'events.get:held to the end',
    as: 'guest',
    repeatable: false,
    held: true,
    pace: 60,
    prepare: async (call) => {
      const { queue_id, last_event_id } = await call('events.register', 'guest', { fetch_event_types: [] });
      return { queue_id, last_event_id };
    },
    request: (query) => ({ query }),
  }),
  operation({
    name: 'events.delete',
    as: 'guest',
    repeatable: false,
    prepare: async (call) => (await call('events.register', 'guest', { fetch_event_types: [] })).queue_id,
    request: (queue_id: string) => ({ parameters: { queue_id } }),
  }),
];
