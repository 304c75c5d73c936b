import {
  type Call,
  channelIdOf,
  idOf,
  type Operation,
  operation,
  plain,
  type Request,
} from '../operation.ts';

/** Creates a public channel of the owner's, and tells its id. */
async function created(call: Call, name: string): Promise<number> {
  await call('subscriptions.add', 'owner', { subscriptions: [{ name }] });
  return channelIdOf(call, name);
}

/** Asks something about the channel `general`. */
const about = (name: string): Operation =>
  operation({
    name,
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id) => ({ path: { stream_id } }),
  });

/** Does something with a channel that is created for it. */
const toNew = (
  name: string,
  as: Operation['as'],
  request: (channel: { readonly stream_id: number; readonly name: string }) => Request,
  more: (call: Call, stream_id: number) => Promise<unknown> = async () => {},
): Operation =>
  operation({
    name,
    as,
    repeatable: false,
    prepare: async (call, n) => {
      const channel = `${name} ${n}`;
      const stream_id = await created(call, channel);
      await more(call, stream_id);
      return { stream_id, name: channel };
    },
    request,
  });

const newFolder = async (call: Call, name: string): Promise<number> =>
  (await call('channelFolders.create', 'owner', { name, description: '' })).channel_folder_id;

const groupOf = (group_name: string, stream_names: readonly string[] = []) => ({
  group_name,
  description: 'Where to begin',
  stream_names,
});

/** Does something with a default channel group that is created for it. */
const toDefaultGroup = (
  verb: string,
  parameters: (n: number) => NonNullable<Request['parameters']>,
): Operation =>
  operation({
    name: `defaultChannelGroups.${verb}`,
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) =>
      (await call('defaultChannelGroups.create', 'owner', groupOf(`${verb} ${n}`))).id as number,
    request: (group_id, n) => ({ path: { group_id }, parameters: parameters(n) }),
  });

/** Channels, subscriptions and folders. */
export const channelOperations: readonly Operation[] = [
  plain('subscriptions.list', 'member'),
  plain('subscriptions.list:with subscribers', 'member', () => ({ query: { include_subscribers: true } })),
  {
    ...plain('channels.create', 'member', (n) => ({ parameters: { name: `made ${n}`, subscribers: [] } })),
    repeatable: false,
  },
  plain('subscriptions.add:a new channel', 'member', (n) => ({
    parameters: { subscriptions: [{ name: `channel ${n}` }] },
  })),
  toNew('subscriptions.add:oneself', 'member', ({ name }) => ({ parameters: { subscriptions: [{ name }] } })),
  operation({
    name: 'subscriptions.add:two others',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => {
      const name = `invited ${n}`;
      await created(call, name);
      return { name, principals: [await idOf(call, 'member'), await idOf(call, 'admin')] };
    },
    request: ({ name, principals }) => ({ parameters: { subscriptions: [{ name }], principals } }),
  }),
  toNew('subscriptions.remove', 'owner', ({ name }) => ({ parameters: { subscriptions: [name] } })),
  operation({
    name: 'subscriptions.setProperties',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id, n) => {
      const value = `#${(n % 0xff_ffff).toString(16).padStart(6, '0')}`;
      return { parameters: { subscription_data: [{ stream_id, property: 'color', value }] } };
    },
  }),
  operation({
    name: 'subscriptions.setProperty',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (stream_id, n) => ({
      path: { stream_id },
      parameters: { property: 'pin_to_top', value: n % 2 === 0 },
    }),
  }),
  toNew('subscriptions.change', 'member', ({ name }) => ({
    parameters: { add: [{ name }], delete: ['general'] },
  })),
  plain('channels.list', 'member'),
  plain('channels.getId', 'member', () => ({ query: { stream: 'general' } })),
  about('channels.get'),
  about('channels.listMembers'),
  operation({
    name: 'channels.update',
    as: 'owner',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'random'),
    request: (stream_id, n) => ({ path: { stream_id }, parameters: { description: `Anything ${n}` } }),
  }),
  toNew('channels.archive', 'owner', ({ stream_id }) => ({ path: { stream_id } })),
  toNew('channels.addDefault', 'owner', ({ stream_id }) => ({ parameters: { stream_id } })),
  toNew(
    'channels.removeDefault',
    'owner',
    ({ stream_id }) => ({ parameters: { stream_id } }),
    (call, stream_id) => call('channels.addDefault', 'owner', { stream_id }),
  ),
  {
    ...plain('defaultChannelGroups.create', 'owner', (n) => ({
      parameters: groupOf(`group ${n}`, ['random']),
    })),
    repeatable: false,
  },
  toDefaultGroup('update', (n) => ({ new_description: `Where to begin ${n}` })),
  toDefaultGroup('updateChannels', () => ({ op: 'add', stream_names: ['random'] })),
  toDefaultGroup('delete', () => ({})),
  about('channels.getEmailAddress'),
  {
    ...plain('channelFolders.create', 'owner', (n) => ({
      parameters: { name: `folder ${n}`, description: 'What we *make*' },
    })),
    repeatable: false,
  },
  plain('channelFolders.list', 'member'),
  operation({
    name: 'channelFolders.reorder',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => {
      for (const side of ['left', 'right']) await newFolder(call, `${side} ${n}`);
      const { channel_folders } = await call(
        'channelFolders.list',
        'owner',
        {},
        {
          query: { include_archived: true },
        },
      );
      return channel_folders.map(({ id }: { id: number }) => id).reverse();
    },
    request: (order: readonly number[]) => ({ parameters: { order } }),
  }),
  operation({
    name: 'channelFolders.update',
    as: 'owner',
    repeatable: true,
    prepare: (call, n) => newFolder(call, `described ${n}`),
    request: (channel_folder_id, n) => ({
      path: { channel_folder_id },
      parameters: { description: `What we make ${n}` },
    }),
  }),
];
