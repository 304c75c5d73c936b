import { type Call, channelIdOf, idOf, type Operation, operation, plain } from '../operation.ts';

const created = async (call: Call, label: string): Promise<number> =>
  (await call('users.create', 'admin', { email: `${label}@example.com`, full_name: label })).user_id;

/** Does something with an account that is created for it. */
const toNew = (
  name: string,
  as: Operation['as'],
  made: (call: Call, label: string) => Promise<number>,
  path: 'user' | 'bot_id' = 'user',
): Operation =>
  operation({
    name,
    as,
    repeatable: false,
    prepare: (call, n) => made(call, `${name.replace('.', '-').toLowerCase()}${n}`),
    request: (id) => ({ path: { [path]: id } }),
  });

/** Asks something about an account of the demo. */
const about = (name: string, as: Operation['as'], prepare: (call: Call) => Promise<unknown>): Operation =>
  operation({
    name,
    as,
    repeatable: true,
    prepare: async (call) => {
      await prepare(call);
      return idOf(call, 'member');
    },
    request: (user) => ({ path: { user } }),
  });

const newBot = async (call: Call, label: string): Promise<number> =>
  (await call('bots.create', 'member', { full_name: label, short_name: label })).user_id;

const newField = async (call: Call, name: string): Promise<number> =>
  (await call('profileFields.create', 'owner', { field_type: 1, name })).id;

interface Invite {
  readonly id: number;
  readonly email?: string;
  readonly is_multiuse: boolean;
}

const invitesOf = async (call: Call): Promise<Invite[]> => (await call('invites.list', 'admin')).invites;

/** Invites somebody, and returns the ID of the invitation. */
async function inviteOf(call: Call, email: string): Promise<number> {
  await call('invites.create', 'admin', { invitee_emails: email, stream_ids: [] });
  return (await invitesOf(call)).find((invite) => invite.email === email)?.id ?? 0;
}

const isCurrent = ({ is_current: current }: { readonly is_current: boolean }): boolean => current;

/** Sends a presence ping of the member, whose client has done so before. */
const pings = (name: string, status = 'active'): Operation => {
  const parameters = { status, slim_presence: true };
  return operation({
    name,
    as: 'member',
    repeatable: true,
    prepare: (call) => call('presence.update', 'member', parameters),
    request: ({ presence_last_update_id: last_update_id }) => ({
      parameters: { ...parameters, last_update_id },
    }),
  });
};

/** Accounts, profiles, settings, statuses, presence and bots. */
export const peopleOperations: readonly Operation[] = [
  plain('users.list', 'member'),
  operation({
    name: 'users.list:two of them',
    as: 'member',
    repeatable: true,
    prepare: async (call) => [await idOf(call, 'member'), await idOf(call, 'admin')],
    request: (user_ids) => ({ query: { user_ids } }),
  }),
  plain('users.getOwn', 'member'),
  about('users.get', 'admin', async () => {}),
  plain('users.create', 'admin', (n) => ({
    parameters: { email: `new${n}@example.com`, full_name: `New ${n}` },
  })),
  operation({
    name: 'users.update',
    as: 'owner',
    repeatable: true,
    prepare: (call) => idOf(call, 'guest'),
    request: (user, n) => ({ path: { user }, parameters: { full_name: `Gus Guest ${n}` } }),
  }),
  toNew('users.deactivate', 'owner', created),
  toNew('users.reactivate', 'owner', async (call, label) => {
    const user = await created(call, label);
    await call('users.deactivate', 'owner', {}, { path: { user } });
    return user;
  }),
  operation({
    name: 'users.deactivateOwn',
    as: 'guest',
    repeatable: false,
    prepare: async (call) => {
      const { members } = await call('users.list', 'owner');
      const guest = members.find(({ role }: { readonly role: number }) => role === 600);
      if (!guest.is_active) await call('users.reactivate', 'owner', {}, { path: { user: guest.user_id } });
    },
    request: () => ({}),
  }),
  { ...plain('users.regenerateKey', 'moderator'), repeatable: false },
  plain('invites.create', 'admin', (n) => ({
    parameters: { invitee_emails: `invited${n}@example.com`, stream_ids: [] },
  })),
  plain('invites.createLink', 'admin'),
  plain('invites.list', 'admin'),
  operation({
    name: 'invites.resend',
    as: 'admin',
    repeatable: true,
    prepare: (call, n) => inviteOf(call, `resent${n}@example.com`),
    request: (invite_id) => ({ path: { invite_id } }),
  }),
  operation({
    name: 'invites.revoke',
    as: 'admin',
    repeatable: false,
    prepare: (call, n) => inviteOf(call, `revoked${n}@example.com`),
    request: (invite_id) => ({ path: { invite_id } }),
  }),
  operation({
    name: 'invites.revokeLink',
    as: 'admin',
    repeatable: false,
    prepare: async (call) => {
      await call('invites.createLink', 'admin');
      return (await invitesOf(call)).findLast((each) => each.is_multiuse)?.id;
    },
    request: (invite_id) => ({ path: { invite_id: invite_id ?? 0 } }),
  }),
  plain('apiKeys.list', 'moderator'),
  operation({
    name: 'apiKeys.revoke',
    as: 'moderator',
    repeatable: false,
    prepare: async (call) => (await call('apiKeys.list', 'moderator')).api_keys.find(isCurrent).id,
    request: (key) => ({ path: { key } }),
  }),
  operation({
    name: 'users.updateProfileData',
    as: 'member',
    repeatable: true,
    prepare: (call, n) => newField(call, `filled ${n}`),
    request: (id, n) => ({ parameters: { data: [{ id, value: `Latin ${n}` }] } }),
  }),
  operation({
    name: 'users.removeProfileData',
    as: 'member',
    repeatable: false,
    prepare: async (call, n) => {
      const id = await newField(call, `emptied ${n}`);
      await call('users.updateProfileData', 'member', { data: [{ id, value: 'Latin' }] });
      return id;
    },
    request: (id) => ({ parameters: { data: [id] } }),
  }),
  plain('settings.update', 'member', (n) => ({ parameters: { color_scheme: (n % 3) + 1 } })),
  plain('users.setStatus', 'member', (n) => ({
    parameters: { status_text: `at lunch ${n}`, emoji_name: 'pizza' },
  })),
  operation({
    name: 'users.setStatusOf',
    as: 'admin',
    repeatable: true,
    prepare: (call) => idOf(call, 'member'),
    request: (user, n) => ({ path: { user }, parameters: { status_text: `away ${n}` } }),
  }),
  operation({
    name: 'users.isSubscribed',
    as: 'admin',
    repeatable: true,
    prepare: async (call) => ({
      user: await idOf(call, 'member'),
      stream_id: await channelIdOf(call, 'general'),
    }),
    request: (path) => ({ path }),
  }),
  about('users.listChannels', 'admin', async () => {}),
  about('users.getStatus', 'admin', (call) => call('users.setStatus', 'member', { status_text: 'away' })),
  { ...pings('presence.update'), pace: 60 },
  { ...pings('presence.update:once in five minutes', 'idle'), pace: 360 },
  { ...pings('presence.update:coming online'), pace: 360 },
  pings('presence.update:again within a minute'),
  plain('presence.list', 'member'),
  about('presence.get', 'admin', (call) => call('presence.update', 'member', { status: 'active' })),
  plain('bots.list', 'member'),
  {
    ...plain('bots.create', 'member', (n) => ({
      parameters: { full_name: `Bot ${n}`, short_name: `b${n}` },
    })),
    repeatable: false,
  },
  toNew('bots.deactivate', 'member', newBot, 'bot_id'),
  toNew('bots.regenerateKey', 'member', newBot, 'bot_id'),
];
