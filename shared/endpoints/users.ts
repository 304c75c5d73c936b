import * as z from 'zod/mini';
import { PUSH } from '../kernel/wake-up.ts';
import { endpoint, HASHING_MEMORY, readsItems, removesImage, storesImage, writes } from './endpoint.ts';
import { userFields } from './objects.ts';
import { boolean, ids, integer, json, optional, pathId, text, word } from './parameter.ts';
import { profileValues } from './profile-fields.ts';

const clientGravatar = optional(
  boolean('Whether to leave out Gravatar URLs, which the client can compute itself; default true.'),
);
const includeCustomProfileFields = optional(
  boolean('Whether to include the values of custom profile fields; default false.'),
);
const user = text('The ID or the email address of the user.');

export const getOwnUser = endpoint({
  id: 'users.getOwn',
  route: 'GET /api/v1/users/me',
  source: 'https://zulip.com/api/get-own-user',
  description: 'Gets the account of the caller.',
  access: 'user',
  reply: z.object({ ...userFields, max_message_id: z.int() }),
  needs: { table: readsItems },
});

export const listUsers = endpoint({
  id: 'users.list',
  route: 'GET /api/v1/users',
  source: 'https://zulip.com/api/get-users',
  description: 'Lists the users of the organization, including bots and deactivated accounts.',
  access: 'user',
  parameters: {
    client_gravatar: clientGravatar,
    include_custom_profile_fields: includeCustomProfileFields,
    user_ids: optional(ids('List only the users with these IDs.')),
  },
  reply: z.object({ members: z.array(z.object(userFields)) }),
});

export const getUser = endpoint({
  id: 'users.get',
  route: 'GET /api/v1/users/{user}',
  source: 'https://zulip.com/api/get-user',
  description: 'Gets a user by their ID or email address.',
  access: 'user',
  parameters: {
    user,
    client_gravatar: clientGravatar,
    include_custom_profile_fields: includeCustomProfileFields,
  },
  reply: z.object({ user: z.object(userFields) }),
});

export const createUser = endpoint({
  id: 'users.create',
  route: 'POST /api/v1/users',
  source: 'https://zulip.com/api/create-user',
  description:
    'Creates an account. With a password its owner signs in with that; without one the reply has an API key to hand on.',
  access: 'administrator',
  parameters: {
    email: text('The email address. No other account, active or not, may have it.'),
    full_name: text('The full name.'),
    password: optional(text('The password.')),
    role: optional(integer('100 owner, 200 administrator, 300 moderator, 400 member (default), 600 guest.')),
  },
  reply: z.object({ user_id: z.int(), api_key: z.optional(z.string()) }),
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  memory: HASHING_MEMORY,
});

export const updateUser = endpoint({
  id: 'users.update',
  route: 'PATCH /api/v1/users/{user}',
  source: 'https://zulip.com/api/update-user',
  description:
    'Updates the name, role or profile of an account. Only owners can appoint owners, or update owners and their bots.',
  access: 'administrator',
  parameters: {
    user,
    full_name: optional(text('The full name.')),
    role: optional(integer('100 owner, 200 administrator, 300 moderator, 400 member, 600 guest.')),
    profile_data: optional(
      json(
        'Custom profile fields: the `id` and the `value` of each; an empty value removes it.',
        profileValues,
      ),
    ),
  },
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const deactivateUser = endpoint({
  id: 'users.deactivate',
  route: 'DELETE /api/v1/users/{user}',
  source: 'https://zulip.com/api/deactivate-user',
  description:
    'Deactivates an account and the bots that it owns. The owner of a bot may deactivate it too. Nobody can deactivate a user of a higher role.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const deactivateOwn = endpoint({
  id: 'users.deactivateOwn',
  route: 'DELETE /api/v1/users/me',
  source: 'https://zulip.com/api/deactivate-own-user, companion facts 3.3',
  description: "Deactivates the caller's account and the bots that it owns.",
  access: 'user',
  errors: ['CANNOT_DEACTIVATE_LAST_USER'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const reactivateUser = endpoint({
  id: 'users.reactivate',
  route: 'POST /api/v1/users/{user}/reactivate',
  source: 'https://zulip.com/api/reactivate-user',
  description: 'Reactivates a deactivated account. The owner of a bot may reactivate it too.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const regenerateOwnKey = endpoint({
  id: 'users.regenerateKey',
  route: 'POST /api/v1/users/me/api_key/regenerate',
  source: 'https://zulip.com/api/regenerate-api-key',
  description: 'Replaces the API key of this request by a new one. Other keys of the caller go on working.',
  access: 'human',
  reply: z.object({ api_key: z.string() }),
  needs: { table: writes },
});

const avatarReply = z.object({ avatar_url: z.string() });

export const setAvatar = endpoint({
  ...storesImage,
  id: 'users.setAvatar',
  route: 'POST /api/v1/users/me/avatar',
  source: 'https://zulip.com/api/upload-avatar, companion facts 4.8',
  description: "Sets the caller's avatar from an uploaded image.",
  access: 'user',
  file: 'A PNG, GIF, WebP or JPEG image of at most 4 MiB. It is cropped to a square; of an animated one, the first frame is taken.',
  size: { bytes: 5 * 1024 * 1024 },
  reply: avatarReply,
});

export const removeAvatar = endpoint({
  id: 'users.removeAvatar',
  route: 'DELETE /api/v1/users/me/avatar',
  source: 'companion facts 4.8',
  description: "Removes the caller's avatar. The one of Gravatar takes its place.",
  access: 'user',
  reply: avatarReply,
  needs: removesImage,
});

const status = {
  status_text: optional(text('The text, at most 60 characters.')),
  emoji_name: optional(text('The name of the emoji.')),
  emoji_code: optional(
    text('The code of the emoji. Default: that of its name. Must be empty if the name is.'),
  ),
  reaction_type: optional(
    word('The kind of the emoji. Default: that of its name. Must be empty if the name is.', [
      'unicode_emoji',
      'realm_emoji',
      'zulip_extra_emoji',
      '',
    ]),
  ),
};

export const setUserStatus = endpoint({
  id: 'users.setStatus',
  route: 'POST /api/v1/users/me/status',
  source: 'https://zulip.com/api/update-status, specification 3',
  description: "Sets the caller's status: a text, an emoji, or both. An empty string clears either.",
  access: 'human',
  parameters: status,
  needs: { table: writes },
});

export const getUserStatus = endpoint({
  id: 'users.getStatus',
  route: 'GET /api/v1/users/{user}/status',
  source: 'https://zulip.com/api/get-user-status',
  description: 'Gets the status of a user.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  reply: z.object({
    status: z.object({
      status_text: z.optional(z.string()),
      emoji_name: z.optional(z.string()),
      emoji_code: z.optional(z.string()),
      reaction_type: z.optional(z.string()),
    }),
  }),
});

export const setStatusOfUser = endpoint({
  id: 'users.setStatusOf',
  route: 'POST /api/v1/users/{user}/status',
  source: 'https://zulip.com/api/update-status-for-user, companion facts 3.5',
  description: 'Sets the status of another user. Only administrators can.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.'), ...status },
  needs: { table: writes },
});

export const getUserSubscription = endpoint({
  id: 'users.isSubscribed',
  route: 'GET /api/v1/users/{user}/subscriptions/{stream_id}',
  source: 'https://zulip.com/api/get-subscription-status, companion facts 3.4',
  description: 'Says whether a user is subscribed to a channel.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.'), stream_id: pathId('The ID of the channel.') },
  reply: z.object({ is_subscribed: z.boolean() }),
});

export const listUserChannels = endpoint({
  id: 'users.listChannels',
  route: 'GET /api/v1/users/{user}/channels',
  source: 'https://zulip.com/api/get-user-channels, companion facts 3.4',
  description: 'Lists the channels that a user is subscribed to, of those that the caller can see.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  reply: z.object({ subscribed_channel_ids: z.array(z.int()) }),
});

const muted_user_id = pathId('The ID of the user.');

export const muteUser = endpoint({
  id: 'users.mute',
  route: 'POST /api/v1/users/me/muted_users/{muted_user_id}',
  source: 'https://zulip.com/api/mute-user, companion facts 3.2',
  description: 'Mutes a user: all their messages, present and future, count as read.',
  access: 'user',
  parameters: { muted_user_id },
  needs: { table: writes, queues: [PUSH] },
  memory: 512,
});

export const unmuteUser = endpoint({
  id: 'users.unmute',
  route: 'DELETE /api/v1/users/me/muted_users/{muted_user_id}',
  source: 'https://zulip.com/api/unmute-user, companion facts 3.2',
  description: 'Unmutes a user. What they sent until now stays read.',
  access: 'user',
  parameters: { muted_user_id },
  needs: { table: writes },
});

const alertWords = z.object({ alert_words: z.array(z.string()) });
const alert_words = json('The words.', z.array(z.string()).check(z.maxLength(1_000)));

export const listAlertWords = endpoint({
  id: 'users.listAlertWords',
  route: 'GET /api/v1/users/me/alert_words',
  source: 'companion facts 3.1',
  description: 'Lists the words that the caller wants to be alerted to.',
  access: 'user',
  reply: alertWords,
  needs: { table: readsItems },
});

export const addAlertWords = endpoint({
  id: 'users.addAlertWords',
  route: 'POST /api/v1/users/me/alert_words',
  source: 'companion facts 3.1',
  description:
    'Adds alert words: messages whose text holds one have the flag `has_alert_word` for the caller.',
  access: 'user',
  parameters: { alert_words },
  reply: alertWords,
  needs: { table: writes },
});

export const removeAlertWords = endpoint({
  id: 'users.removeAlertWords',
  route: 'DELETE /api/v1/users/me/alert_words',
  source: 'companion facts 3.1',
  description: 'Removes alert words, in whatever case they are.',
  access: 'user',
  parameters: { alert_words },
  reply: alertWords,
  needs: { table: writes },
});
