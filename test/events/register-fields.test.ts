import { expect, test } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { newRealm } from '../support/realm.ts';

const { administrators, everyone, members, moderators, nobody } = systemGroups;

/** The fields of companion facts 4.9, each with its default. A class stands for a value that differs by organization. */
const fields: Readonly<Record<string, unknown>> = {
  realm_can_invite_users_group: members.id,
  realm_create_multiuse_invite_group: administrators.id,
  realm_can_create_write_only_bots_group: members.id,
  // Nobody, unlike in the reference: this service summarizes nothing.
  realm_can_summarize_topics_group: nobody.id,
  realm_can_manage_billing_group: administrators.id,
  realm_can_set_delete_message_policy_group: moderators.id,
  realm_workplace_users_group: everyone.id,
  realm_enable_guest_user_indicator: true,
  realm_enable_guest_user_dm_warning: true,
  realm_media_preview_size: 100,
  realm_default_avatar_source: 'G',
  realm_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  realm_user_settings_defaults: expect.objectContaining({ color_scheme: 1, default_language: 'en' }),
  realm_billing: { has_pending_sponsorship_request: false },
  realm_create_public_stream_policy: 1,
  realm_create_private_stream_policy: 1,
  realm_create_web_public_stream_policy: 7,
  realm_wildcard_mention_policy: 5,
  user_settings: expect.objectContaining({ receives_typing_notifications: true }),
  klipy_api_key: '',
  giphy_api_key: '',
  tenor_api_key: '',
  server_emoji_data_url: expect.stringMatching(/^https?:.*\.json$/),
  navigation_tour_video_url: null,
  gif_rating_policy_options: expect.objectContaining({ disabled: { id: 0, name: expect.any(String) } }),
  realm_gif_rating_policy: 2,
  devices: {},
  realm_mandatory_topics: expect.any(Boolean),
  realm_uri: expect.stringMatching(/^https?:/),
  jitsi_server_url: null,
};

/** The fields that a server of this feature level no longer sends. */
const dropped = [
  'is_billing_admin',
  'stream_name_max_length',
  'stream_description_max_length',
  'gif_rating_options',
  'giphy_rating_options',
  'realm_giphy_rating',
  'push_devices',
  'realm_is_zephyr_mirror_realm',
];

test('a registration has every field of companion facts 4.9, and no field that was removed', async () => {
  const realm = await newRealm();
  const client_capabilities = { user_settings_object: true };
  const { body } = await realm.call(register, realm.people.member, { client_capabilities });
  const shown = Object.fromEntries(Object.keys(fields).map((name) => [name, body[name]]));
  expect(shown).toEqual(fields);
  expect(dropped.filter((name) => name in body)).toEqual([]);
  // At the top level for clients without the object only.
  const legacy = ['enter_sends', 'color_scheme', 'timezone', 'receives_typing_notifications'];
  expect(legacy.filter((name) => name in body)).toEqual([]);
  const { body: older } = await realm.call(register, realm.people.member, {});
  expect(older).toMatchObject({ enter_sends: false, timezone: '', receives_typing_notifications: true });
});
