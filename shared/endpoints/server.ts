import * as z from 'zod/mini';
import { endpoint } from './endpoint.ts';

export const getServerSettings = endpoint({
  id: 'server.getSettings',
  route: 'GET /api/v1/server_settings',
  source: 'https://zulip.com/api/get-server-settings',
  description: 'Gets the server settings that a client needs before it signs in.',
  access: 'anyone',
  reply: z.object({
    zulip_version: z.string(),
    zulip_feature_level: z.int(),
    zulip_merge_base: z.string(),
    push_notifications_enabled: z.boolean(),
    is_incompatible: z.boolean(),
    email_auth_enabled: z.boolean(),
    require_email_format_usernames: z.boolean(),
    realm_uri: z.string(),
    realm_url: z.string(),
    realm_name: z.string(),
    realm_icon: z.string(),
    realm_description: z.string(),
    realm_web_public_access_enabled: z.boolean(),
    authentication_methods: z.record(z.string(), z.boolean()),
    external_authentication_methods: z.array(
      z.object({
        name: z.string(),
        display_name: z.string(),
        display_icon: z.nullable(z.string()),
        login_url: z.string(),
        signup_url: z.string(),
      }),
    ),
  }),
  needs: {
    table: ['BatchGetItem'],
    settings: ['PUSH_RELAY_URL', 'OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_NAME'],
  },
});

export const getOpenApi = endpoint({
  id: 'server.getOpenApi',
  route: 'GET /api/v1/openapi.json',
  source: 'https://spec.openapis.org/oas/v3.1.1.html',
  description: 'Gets the OpenAPI document of the whole API.',
  access: 'anyone',
  serves: 'An OpenAPI 3.1 document (JSON).',
  needs: { table: [] },
});

export const getEmojiNames = endpoint({
  id: 'server.getEmojiNames',
  route: 'GET /static/emoji-names.json',
  source: 'companion facts 4.9, `server_emoji_data_url`',
  description: 'Lists the names of all built-in emoji.',
  access: 'anyone',
  serves:
    'A JSON object with one key, `code_to_names`: the names of each emoji by its code, the displayed name first.',
  needs: { table: [] },
});
