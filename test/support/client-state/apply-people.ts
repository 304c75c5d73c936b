import type { Event } from '../event-queue.ts';
import { type Applying, isIn, type Json, type Known, withIds, withoutIds } from './known.ts';

const userLists = ['realm_users', 'realm_non_active_users', 'cross_realm_bots'] as const;

const userIn = ({ state }: Known, userId: number): Json =>
  userLists.flatMap((list) => state[list]).find(({ user_id }: Json) => user_id === userId);

function addUser({ state }: Known, { person }: Event): void {
  for (const list of userLists) {
    state[list] = state[list].filter(({ user_id }: Json) => user_id !== person.user_id);
  }
  const list = person.is_active ? state.realm_users : state.realm_non_active_users;
  list.push(person);
}

const roleFields = (role: number) => ({
  is_owner: role === 100,
  is_admin: role <= 200,
  is_guest: role === 600,
});

function updateUser(known: Known, { person }: Event): void {
  const { state, me } = known;
  const { user_id, custom_profile_field, role, is_active, avatar_url, ...others } = person;
  const { avatar_source, avatar_url_medium, ...fields } = others;
  const user = userIn(known, user_id);
  if (user === undefined) throw new Error(`there is no user ${user_id}: ${JSON.stringify(person)}`);
  for (const [name, value] of Object.entries(fields)) {
    if (!(name in user)) throw new Error(`users have no ${name}`);
    user[name] = value;
    if (user_id === me && name in state) state[name] = value;
  }
  if (avatar_url !== undefined) {
    // In the list of users, clients that compute addresses of Gravatar have none.
    const isComputed = avatar_source === 'G' && known.kind.parameters.client_gravatar !== false;
    user.avatar_url = isComputed ? null : avatar_url;
    if (user_id === me) Object.assign(state, { avatar_source, avatar_url, avatar_url_medium });
  }
  if (custom_profile_field) fillIn(user, custom_profile_field);
  if (role !== undefined) changeRole(known, user, role);
  if (is_active !== undefined) {
    const [from, to] = is_active
      ? ['realm_non_active_users', 'realm_users']
      : ['realm_users', 'realm_non_active_users'];
    state[from] = state[from].filter((each: Json) => each !== user);
    state[to].push({ ...user, is_active });
  }
}

function fillIn(user: Json, { id, ...value }: Json): void {
  if (value.value === null) delete user.profile_data[id];
  else user.profile_data[id] = value;
}

function changeRole(known: Known, user: Json, role: number): void {
  const { state, me } = known;
  Object.assign(user, { role, ...roleFields(role) });
  if (user.user_id !== me) return;
  // No event has all bots for a user who becomes an administrator, so the client fetches them.
  if (roleFields(role).is_admin !== state.is_admin) known.stale.add('realm_bots');
  Object.assign(state, { ...roleFields(role), is_moderator: role <= 300 });
}

function groupIn({ state }: Known, id: number): Json {
  const found = state.realm_user_groups.find((each: Json) => each.id === id);
  if (found === undefined) throw new Error(`there is no group ${id}`);
  return found;
}

const onGroup =
  (apply: (group: Json, event: Event) => void) =>
  (known: Known, event: Event): void =>
    apply(groupIn(known, event.group_id), event);

function updateGroup(known: Known, { group_id, data }: Event): void {
  Object.assign(groupIn(known, group_id), data);
}

function sayStatus({ state }: Known, { user_id, id, type, ...fields }: Event): void {
  const said = Object.entries({ ...state.user_status[user_id], ...fields }).filter(
    ([, value]) => value !== '',
  );
  const { emoji_name, emoji_code, reaction_type, ...text } = Object.fromEntries(said) as Json;
  const status = emoji_name === undefined ? text : { ...text, emoji_name, emoji_code, reaction_type };
  if (Object.keys(status).length === 0) delete state.user_status[user_id];
  else state.user_status[user_id] = status;
}

/** Values leave with their field, or with their choice. */
function changeFields({ state }: Known, { fields }: Event): void {
  state.custom_profile_fields = fields;
  const choices = new Map<string, Json>(
    fields.map(({ id, type, field_data }: Json) => [
      `${id}`,
      type === 3 ? JSON.parse(field_data) : undefined,
    ]),
  );
  const isKept = ([id, { value }]: [string, Json]): boolean =>
    choices.has(id) && Object.hasOwn(choices.get(id) ?? { [value]: true }, value);
  for (const user of [...state.realm_users, ...state.realm_non_active_users]) {
    if (user.profile_data === undefined) continue;
    user.profile_data = Object.fromEntries(
      Object.entries(user.profile_data as Record<string, Json>).filter(isKept),
    );
  }
}

/** A new device. */
const nothingOfDevice = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

const changesOf = ({ id, type, op, device_id, ...changes }: Event): Json => changes;

/** What clients make of events about people, their groups and their settings (wire facts 6, 7). */
export const applyPeople: Applying = {
  'realm_user/add': addUser,
  'realm_user/update': updateUser,
  'realm_bot/add': ({ state }, { bot }) => void state.realm_bots.push(bot),
  'user_group/add': ({ state }, { group }) => void state.realm_user_groups.push(group),
  'user_group/remove': (known, { group_id }) => {
    const gone = groupIn(known, group_id);
    known.state.realm_user_groups = known.state.realm_user_groups.filter((each: Json) => each !== gone);
  },
  'user_group/update': updateGroup,
  'user_group/add_members': onGroup((group, { user_ids }) => {
    group.members = withIds(group.members, user_ids);
  }),
  'user_group/remove_members': onGroup((group, { user_ids }) => {
    group.members = withoutIds(group.members, user_ids);
  }),
  'user_group/add_subgroups': onGroup((group, { direct_subgroup_ids: ids }) => {
    group.direct_subgroup_ids = withIds(group.direct_subgroup_ids, ids);
  }),
  'user_group/remove_subgroups': onGroup((group, { direct_subgroup_ids: ids }) => {
    group.direct_subgroup_ids = withoutIds(group.direct_subgroup_ids, ids);
  }),
  'user_settings/update': ({ state }, { property, value }) => {
    if (!(property in state.user_settings)) throw new Error(`there is no setting ${property}`);
    state.user_settings[property] = value;
    // Only clients without `user_settings_object` have it at the top level too.
    if (property in state) state[property] = value;
  },
  user_status: sayStatus,
  // Not compared (`shown.ts`).
  presence: () => {},
  custom_profile_fields: changeFields,
  has_zoom_token: ({ state }, { value }) => {
    state.has_zoom_token = value;
  },
  has_webex_token: ({ state }, { value }) => {
    state.has_webex_token = value;
  },
  'device/add': ({ state }, event) => {
    state.devices[event.device_id] = { ...nothingOfDevice, ...changesOf(event) };
  },
  'device/update': ({ state }, event) => {
    if (!(event.device_id in state.devices)) throw new Error(`there is no device ${event.device_id}`);
    Object.assign(state.devices[event.device_id], changesOf(event));
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
  // Own files are fetched when they are looked at (`test/files`).
  'attachment/add': () => {},
  'attachment/update': () => {},
  'attachment/remove': () => {},
  'device/remove': ({ state }, { device_id }) => {
    delete state.devices[device_id];
  },
  // Consents and exports are fetched when they are looked at, and kept up to date by these.
  realm_export: () => {},
  realm_export_consent: () => {},
};

/** What the person may do by the settings of the organization, which clients work out themselves. */
export function permissionsOf(known: Known): Json {
  const { state, me } = known;
  const may = (setting: string): boolean => isIn(known, me, state[`realm_${setting}`]);
  const canCreate = {
    can_create_public_streams: may('can_create_public_channel_group'),
    can_create_private_streams: may('can_create_private_channel_group'),
    can_create_web_public_streams:
      state.server_web_public_streams_enabled &&
      state.realm_enable_spectator_access &&
      may('can_create_web_public_channel_group'),
  };
  return {
    ...canCreate,
    can_create_streams: Object.values(canCreate).some(Boolean),
    can_subscribe_other_users: may('can_add_subscribers_group'),
    can_invite_others_to_realm: may('can_invite_users_group'),
  };
}
