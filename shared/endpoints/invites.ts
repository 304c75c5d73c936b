import * as z from 'zod/mini';
import { MAIL_OUT } from '../domain/outbox/outbox.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, ids, integer, json, optional, pathId, text } from './parameter.ts';

const source = 'https://zulip.com/api/send-invites, companion facts 3.8';

/** The longest life of an invitation that expires, in minutes: ten years. */
const MAX_MINUTES = 5_256_000;

const minutes = optional(
  json(
    'After how many minutes the invitation expires; default 14400, ten days. `null` for never.',
    z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_MINUTES))),
  ),
);
const role = optional(
  integer('100 owner, 200 administrator, 300 moderator, 400 member (default), 600 guest.'),
);
const groups = optional(ids('The IDs of user groups that new people become members of.'));
const withDefaults = optional(
  boolean('Whether to subscribe new people to the default channels too; default false.'),
);
const welcomeText = z.string().check(z.maxLength(8_000));
const welcome = optional(
  text(
    'A message that each new person gets, in Markdown. Ignored unless the caller is an administrator.',
    welcomeText,
  ),
);

/** One call sends up to 40 mails, so it counts as several requests. */
const WEIGHT = 5;

export const inviteUsers = endpoint({
  id: 'invites.create',
  route: 'POST /api/v1/invites',
  source,
  description:
    'Invites people by email. If the server sends no mail, the reply has a link for each of them. If some have accounts already, the others are invited, and the reply is `INVITATION_FAILED`.',
  access: 'person',
  parameters: {
    invitee_emails: text('Email addresses, separated by commas or line ends. At most 40.'),
    stream_ids: ids('The IDs of channels that new people are subscribed to.'),
    invite_expires_in_minutes: minutes,
    invite_as: role,
    group_ids: groups,
    include_realm_default_subscriptions: withDefaults,
    notify_referrer_on_join: optional(
      boolean('Whether the caller gets a message when one of them joins; default true.'),
    ),
    welcome_message_custom_text: welcome,
  },
  reply: z.object({
    invite_links: z.optional(z.array(z.object({ email: z.string(), invite_link: z.string() }))),
  }),
  errors: ['INVITATION_FAILED', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: writes, queues: [MAIL_OUT], settings: ['MAIL_DOMAIN'] },
  weight: () => WEIGHT,
});

export const createInviteLink = endpoint({
  id: 'invites.createLink',
  route: 'POST /api/v1/invites/multiuse',
  source: 'https://zulip.com/api/create-invite-link, companion facts 3.8',
  description: 'Makes a link with which any number of people can join.',
  access: 'person',
  parameters: {
    stream_ids: optional(ids('The IDs of channels that new people are subscribed to; default none.')),
    invite_expires_in_minutes: minutes,
    invite_as: role,
    group_ids: groups,
    include_realm_default_subscriptions: withDefaults,
    welcome_message_custom_text: welcome,
  },
  reply: z.object({ invite_link: z.string() }),
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: writes },
});

export const listInvites = endpoint({
  id: 'invites.list',
  route: 'GET /api/v1/invites',
  source: 'https://zulip.com/api/get-invites, companion facts 3.8',
  description:
    'Lists the open invitations: all of them for administrators, for others those that they made. `id` is unique among those with the same `is_multiuse`.',
  access: 'person',
  reply: z.object({
    invites: z.array(
      z.object({
        id: z.int(),
        invited_by_user_id: z.int(),
        invited: z.int(),
        expiry_date: z.nullable(z.int()),
        invited_as: z.int(),
        is_multiuse: z.boolean(),
        email: z.optional(z.string()),
        notify_referrer_on_join: z.optional(z.boolean()),
        link_url: z.optional(z.string()),
      }),
    ),
  }),
});

const inviteId = pathId('The ID of the invitation.');

export const revokeInvite = endpoint({
  id: 'invites.revoke',
  route: 'DELETE /api/v1/invites/{invite_id}',
  source: 'https://zulip.com/api/revoke-email-invite, companion facts 3.8',
  description: 'Revokes an invitation by email. Its link stops working at once.',
  access: 'person',
  parameters: { invite_id: inviteId },
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const revokeInviteLink = endpoint({
  id: 'invites.revokeLink',
  route: 'DELETE /api/v1/invites/multiuse/{invite_id}',
  source: 'https://zulip.com/api/revoke-invite-link, companion facts 3.8',
  description: 'Revokes a link for many people. It stops working at once.',
  access: 'person',
  parameters: { invite_id: inviteId },
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const resendInvite = endpoint({
  id: 'invites.resend',
  route: 'POST /api/v1/invites/{invite_id}/resend',
  source: 'https://zulip.com/api/resend-email-invite, companion facts 3.8',
  description:
    'Sends an invitation by email again. If the server sends no mail, the reply has another link to it.',
  access: 'person',
  parameters: { invite_id: inviteId },
  reply: z.object({ invite_link: z.optional(z.string()) }),
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: {
    table: [...reads, 'PutItem', 'ConditionCheckItem'],
    queues: [MAIL_OUT],
    settings: ['MAIL_DOMAIN'],
  },
});

export const testWelcome = endpoint({
  id: 'realm.testWelcome',
  route: 'POST /api/v1/realm/test_welcome_bot_custom_message',
  source: 'companion facts 4.8',
  description: 'Sends the caller the message that new people would get.',
  access: 'administrator',
  parameters: { welcome_message_custom_text: text('The message, in Markdown.', welcomeText) },
  reply: z.object({ message_id: z.int() }),
  needs: { table: writes },
});
