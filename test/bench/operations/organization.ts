import { setTimeout as wait } from 'node:timers/promises';
import { picture } from '../../support/pictures.ts';
import { type Call, idOf, type Operation, operation, plain, type Request } from '../operation.ts';

const newGroup = async (call: Call, name: string, members: readonly number[] = []): Promise<number> =>
  (await call('userGroups.create', 'owner', { name, description: '', members })).group_id;

/** Does something with a group that is created for it, in which the member is. */
const toGroup = (
  name: string,
  as: Operation['as'],
  repeatable: boolean,
  request: (
    group: { readonly user_group_id: number; readonly userId: number; readonly other: number },
    n: number,
  ) => Request,
): Operation =>
  operation({
    name,
    as,
    repeatable,
    prepare: async (call, n) => ({
      userId: await idOf(call, 'admin'),
      other: await newGroup(call, `${name} ${n}, another`),
      user_group_id: await newGroup(call, `${name} ${n}`, [await idOf(call, 'member')]),
    }),
    request: ({ user_group_id, ...rest }, n) => ({
      path: { user_group_id },
      ...request({ user_group_id, ...rest }, n),
    }),
  });

const newField = async (call: Call, name: string): Promise<number> =>
  (await call('profileFields.create', 'owner', { field_type: 1, name })).id;

/** Stores a picture; another one each time, since the same one again changes nothing. */
const stored = (name: string, as: 'owner' | 'member', parameters = {}): Operation =>
  operation({
    name,
    as,
    repeatable: true,
    prepare: () => Promise.all(Array.from({ length: 9 }, (_, i) => picture('png', 20, 20 + i))),
    request: (files, n) => ({ parameters, files: [files[n % files.length] ?? new Uint8Array()] }),
  });

/** Adds an emoji, and tells the name. */
async function added(call: Call, emoji_name: string): Promise<string> {
  const files = [await picture('png', 20, 20)];
  await call('emoji.add', 'owner', {}, { path: { emoji_name }, files });
  return emoji_name;
}

/** Uploads a file; tells its id. */
async function uploaded(call: Call): Promise<number> {
  await call('files.upload', 'member', {}, { files: [NOTE] });
  return (await call('files.list', 'member')).attachments.at(-1).id;
}

const NOTE = Buffer.from('milk, bread');

/** The parts of a file's path, as its endpoints take them. */
function pathOf(url: string) {
  const [realm_id = '', shard = '', token = '', name = ''] = url.split('/').slice(2);
  return { realm_id, shard, token, name };
}

const newDomain = async (call: Call, domain: string): Promise<string> => {
  await call('domains.add', 'owner', { domain, allow_subdomains: false });
  return domain;
};

/** Asks for an export and waits until the worker has written it; tells its id. */
async function exported(call: Call): Promise<number> {
  const { id } = await call('exports.create', 'owner', { export_type: 'public' });
  for (let attempt = 0; attempt < 300; attempt++) {
    const { exports } = await call('exports.list', 'owner');
    if (exports.some((one: { id: number; pending: boolean }) => one.id === id && !one.pending)) return id;
    await wait(100);
  }
  throw new Error('the export is not written');
}

const linkifierFor = (name: string) => ({
  pattern: `${name}-(?P<id>[0-9]+)`,
  url_template: 'https://issues.example.org/{id}',
});

const newLinkifier = async (call: Call, name: string): Promise<number> =>
  (await call('linkifiers.create', 'owner', linkifierFor(name))).id;

const playgroundFor = (name: string) => ({
  name,
  pygments_language: 'Rust',
  url_template: 'https://play.example.org/?code={code}',
});

/** Groups, the organization itself, its fields, domains, emoji, files and exports. */
export const organizationOperations: readonly Operation[] = [
  plain('userGroups.list', 'member'),
  plain('userGroups.create', 'owner', (n) => ({
    parameters: { name: `cooks ${n}`, description: 'Who cook', members: [] },
  })),
  toGroup('userGroups.update', 'owner', true, (_, n) => ({ parameters: { description: `Who cook ${n}` } })),
  toGroup('userGroups.deactivate', 'owner', false, () => ({})),
  toGroup('userGroups.updateMembers', 'owner', false, ({ userId }) => ({ parameters: { add: [userId] } })),
  toGroup('userGroups.updateSubgroups', 'owner', false, ({ other }) => ({ parameters: { add: [other] } })),
  toGroup('userGroups.listMembers', 'member', true, () => ({})),
  toGroup('userGroups.isMember', 'member', true, ({ user_group_id, userId }) => ({
    path: { user_group_id, user_id: userId },
  })),
  toGroup('userGroups.listSubgroups', 'member', true, () => ({})),
  plain('realm.testWelcome', 'owner', (n) => ({
    parameters: { welcome_message_custom_text: `Welcome ${n}` },
  })),
  plain('realm.updateNewUserSettings', 'owner', (n) => ({ parameters: { web_font_size_px: 10 + (n % 40) } })),
  plain('realm.update', 'owner', (n) => ({ parameters: { description: `Those who make it ${n}` } })),
  {
    ...plain('profileFields.create', 'owner', (n) => ({ parameters: { field_type: 1, name: `new ${n}` } })),
    repeatable: false,
  },
  plain('profileFields.list', 'member'),
  operation({
    name: 'profileFields.reorder',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => {
      for (const side of ['left', 'right']) await newField(call, `${side} ${n}`);
      const { custom_fields } = await call('profileFields.list', 'owner');
      return custom_fields.map(({ id }: { id: number }) => id).reverse();
    },
    request: (order: readonly number[]) => ({ parameters: { order } }),
  }),
  operation({
    name: 'profileFields.update',
    as: 'owner',
    repeatable: true,
    prepare: (call, n) => newField(call, `changed ${n}`),
    request: (field_id, n) => ({ path: { field_id }, parameters: { hint: `Which ones? ${n}` } }),
  }),
  operation({
    name: 'profileFields.delete',
    as: 'owner',
    repeatable: false,
    prepare: (call, n) => newField(call, `gone ${n}`),
    request: (field_id) => ({ path: { field_id } }),
  }),
  plain('linkifiers.list', 'member'),
  {
    ...plain('linkifiers.create', 'owner', (n) => ({ parameters: linkifierFor(`new${n}`) })),
    repeatable: false,
  },
  operation({
    name: 'linkifiers.update',
    as: 'owner',
    repeatable: true,
    prepare: (call, n) => newLinkifier(call, `changed${n}`),
    request: (filter_id, n) => ({ path: { filter_id }, parameters: linkifierFor(`again${n}`) }),
  }),
  operation({
    name: 'linkifiers.reorder',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) => {
      for (const side of ['left', 'right']) await newLinkifier(call, `${side}${n}`);
      const { linkifiers } = await call('linkifiers.list', 'owner');
      return linkifiers.map(({ id }: { id: number }) => id).reverse();
    },
    request: (ordered_linkifier_ids: readonly number[]) => ({ parameters: { ordered_linkifier_ids } }),
  }),
  operation({
    name: 'linkifiers.delete',
    as: 'owner',
    repeatable: false,
    prepare: (call, n) => newLinkifier(call, `gone${n}`),
    request: (filter_id) => ({ path: { filter_id } }),
  }),
  {
    ...plain('playgrounds.create', 'owner', (n) => ({ parameters: playgroundFor(`new ${n}`) })),
    repeatable: false,
  },
  operation({
    name: 'playgrounds.delete',
    as: 'owner',
    repeatable: false,
    prepare: async (call, n) =>
      (await call('playgrounds.create', 'owner', playgroundFor(`gone ${n}`))).id as number,
    request: (playground_id) => ({ path: { playground_id } }),
  }),
  plain('domains.list', 'member'),
  {
    ...plain('domains.add', 'owner', (n) => ({
      parameters: { domain: `d${n}.example.org`, allow_subdomains: false },
    })),
    repeatable: false,
  },
  operation({
    name: 'domains.update',
    as: 'owner',
    repeatable: true,
    prepare: (call, n) => newDomain(call, `u${n}.example.org`),
    request: (domain, n) => ({ path: { domain }, parameters: { allow_subdomains: n % 2 === 0 } }),
  }),
  operation({
    name: 'domains.remove',
    as: 'owner',
    repeatable: false,
    prepare: (call, n) => newDomain(call, `r${n}.example.org`),
    request: (domain) => ({ path: { domain } }),
  }),
  plain('files.upload', 'member', () => ({ files: [NOTE] })),
  operation({
    name: 'files.list',
    as: 'member',
    repeatable: true,
    prepare: uploaded,
    request: () => ({}),
  }),
  ...['files.createTemporaryLink', 'files.getThumbnailStatus'].map((name) =>
    operation({
      name,
      as: 'member',
      repeatable: true,
      prepare: async (call) => (await call('files.upload', 'member', {}, { files: [NOTE] })).url,
      request: (url: string) => ({ path: pathOf(url) }),
    }),
  ),
  operation({
    name: 'files.getTemporary',
    as: undefined,
    repeatable: true,
    prepare: async (call) => {
      const { url } = await call('files.upload', 'member', {}, { files: [NOTE] });
      return (await call('files.createTemporaryLink', 'member', {}, { path: pathOf(url) })).url;
    },
    request: (url: string) => {
      const [secret = '', filename = ''] = url.split('/').slice(3);
      return { path: { secret, filename } };
    },
  }),
  operation({
    name: 'files.remove',
    as: 'member',
    repeatable: false,
    prepare: uploaded,
    request: (attachment_id) => ({ path: { attachment_id } }),
  }),
  plain('realm.deactivate', 'owner'),
  stored('users.setAvatar', 'member'),
  plain('users.removeAvatar', 'member'),
  stored('realm.setIcon', 'owner'),
  plain('realm.removeIcon', 'owner'),
  plain('realm.getIcon', 'member'),
  stored('realm.setLogo', 'owner', { night: false }),
  plain('realm.removeLogo', 'owner', () => ({ parameters: { night: false } })),
  operation({
    name: 'realm.getLogo',
    as: 'member',
    repeatable: true,
    prepare: async (call) => {
      const files = [await picture('png', 20, 20)];
      await call('realm.setLogo', 'owner', { night: false }, { files });
    },
    request: () => ({ parameters: { night: false } }),
  }),
  plain('emoji.list', 'member'),
  operation({
    name: 'emoji.add',
    as: 'owner',
    repeatable: true,
    prepare: () => picture('png', 20, 20),
    request: (file, n) => ({ path: { emoji_name: `bench${n}` }, files: [file] }),
  }),
  operation({
    name: 'emoji.deactivate',
    as: 'owner',
    repeatable: false,
    prepare: (call, n) => added(call, `away${n}`),
    request: (emoji_name) => ({ path: { emoji_name } }),
  }),
  operation({
    name: 'emoji.image',
    as: undefined,
    repeatable: true,
    prepare: async (call, n) => {
      const name = await added(call, `shown${n}`);
      const { emoji } = await call('emoji.list', 'member');
      const all = Object.values<{ name: string; source_url: string }>(emoji);
      const url = all.find((one) => one.name === name)?.source_url ?? '';
      const [, , realm = '', ...file] = url.split('/');
      return { realm, file: file.join('/') };
    },
    request: (path) => ({ path }),
  }),
  {
    ...plain('exports.create', 'owner', () => ({ parameters: { export_type: 'public' } })),
    repeatable: false,
  },
  plain('exports.list', 'owner'),
  plain('exports.listConsents', 'owner'),
  operation({
    name: 'exports.delete',
    as: 'owner',
    repeatable: false,
    beyond: 'worker',
    prepare: exported,
    request: (export_id) => ({ path: { export_id } }),
  }),
  plain('server.getSettings', undefined),
  operation({
    name: 'signIn.fetchApiKey',
    as: undefined,
    repeatable: true,
    prepare: async (call, n) => {
      const account = { email: `signs-in-${n}@example.com`, password: 'twelve grey herons' };
      await call('users.create', 'admin', { ...account, full_name: `Signs in ${n}` });
      return { username: account.email, password: account.password };
    },
    request: (parameters) => ({ parameters }),
  }),
  plain('signIn.devFetchApiKey', undefined, () => ({ parameters: { username: 'guest@example.com' } })),
  plain('signIn.devListUsers', undefined),
  plain('server.getOpenApi', undefined),
  plain('server.getEmojiNames', undefined),
];
