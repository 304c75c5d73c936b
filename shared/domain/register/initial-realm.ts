import { EMPTY_TOPIC_NAME, limits } from '../realm/realm.ts';
import { supportedSettings } from '../realm/supported-settings.ts';
import { organizationIcon } from '../user/avatar.ts';
import type { Asking, Section } from './initial-section.ts';

/** Largest file (MiB) that a request can carry here. */
const FILES = 5;

/** What the service itself is and can do: the same for every organization. */
const server = {
  development_environment: false,
  event_queue_longpoll_timeout_seconds: 90,
  gif_rating_options: {},
  giphy_api_key: '',
  giphy_rating_options: {},
  jitsi_server_url: null,
  max_avatar_file_size_mib: FILES,
  max_bulk_new_subscription_messages: 250,
  max_channel_folder_description_length: limits.folderDescription,
  max_channel_folder_name_length: limits.folderName,
  max_file_upload_size_mib: FILES,
  max_icon_file_size_mib: FILES,
  max_logo_file_size_mib: FILES,
  max_message_length: limits.message,
  max_reminder_note_length: 1_000,
  max_stream_description_length: limits.channelDescription,
  max_stream_name_length: limits.channelName,
  max_topic_length: limits.topic,
  password_max_length: 100,
  password_min_guesses: 0,
  password_min_length: 0,
  server_avatar_changes_disabled: true,
  server_can_summarize_topics: false,
  server_emoji_data_url: null,
  server_inline_image_preview: false,
  server_inline_url_embed_preview: false,
  server_jitsi_server_url: null,
  server_max_deactivated_realm_deletion_days: null,
  server_min_deactivated_realm_deletion_days: null,
  server_name_changes_disabled: false,
  server_needs_upgrade: false,
  server_presence_offline_threshold_seconds: 200,
  server_presence_ping_interval_seconds: 60,
  server_report_message_types: [],
  server_thumbnail_formats: [],
  server_typing_started_expiry_period_milliseconds: 45_000,
  server_typing_started_wait_period_milliseconds: 30_000,
  server_typing_stopped_wait_period_milliseconds: 12_000,
  server_web_public_streams_enabled: true,
  settings_send_digest_emails: false,
  tenor_api_key: '',
  upgrade_text_for_wide_organization_logo: '',
  zulip_plan_is_not_limited: true,
} as const;

/** Settings that this service does not have, with the value that says so to clients. */
const absent = {
  demo_organization_scheduled_deletion_date: null,
  realm_allow_edit_history: false,
  realm_authentication_methods: {},
  realm_avatar_changes_disabled: true,
  realm_bot_domain: '',
  realm_default_code_block_language: '',
  realm_default_language: 'en',
  realm_digest_emails_enabled: false,
  realm_digest_weekday: 1,
  realm_disallow_disposable_email_addresses: false,
  realm_email_auth_enabled: false,
  realm_email_changes_disabled: true,
  realm_enable_read_receipts: false,
  realm_gif_rating_policy: 0,
  realm_giphy_rating: 0,
  realm_icon_source: 'G',
  realm_inline_image_preview: false,
  realm_inline_url_embed_preview: false,
  realm_invite_required: true,
  realm_is_zephyr_mirror_realm: false,
  realm_jitsi_server_url: null,
  realm_logo_source: 'D',
  realm_logo_url: '',
  realm_message_content_allowed_in_email_notifications: false,
  realm_message_edit_history_visibility_policy: 'none',
  realm_name_changes_disabled: false,
  realm_new_stream_announcements_stream_id: -1,
  realm_night_logo_source: 'D',
  realm_night_logo_url: '',
  realm_org_type: 0,
  realm_password_auth_enabled: false,
  realm_plan_type: 1,
  realm_presence_disabled: true,
  realm_push_notifications_enabled: false,
  realm_push_notifications_enabled_end_timestamp: null,
  realm_require_e2ee_push_notifications: false,
  realm_require_unique_names: false,
  realm_send_channel_events_messages: false,
  realm_send_welcome_emails: false,
  realm_signup_announcements_stream_id: -1,
  realm_upload_quota_mib: null,
  realm_video_chat_provider: 0,
  realm_want_advertise_in_communities_directory: false,
  realm_welcome_message_custom_text: '',
  realm_zulip_update_announcements_stream_id: -1,
} as const;

/** External accounts whose addresses clients can make themselves (wire facts 6). */
const externalAccounts = {
  github: {
    text: 'GitHub',
    name: 'GitHub username',
    hint: 'Enter your GitHub username',
    url_pattern: 'https://github.com/%(username)s',
  },
  twitter: {
    text: 'Twitter',
    name: 'Twitter username',
    hint: 'Do not include the @',
    url_pattern: 'https://twitter.com/%(username)s',
  },
} as const;

/** The organization: what it is, its settings, and the limits of the service (wire facts 2). */
const realm: Section = ({ caller, baseUrl, outside }: Asking) => {
  const { name, description, created, uuid, settings } = caller.realm;
  return {
    ...server,
    ...absent,
    ...Object.fromEntries(Object.entries(settings).map(([setting, value]) => [`realm_${setting}`, value])),
    realm_name: name,
    realm_description: description,
    realm_url: baseUrl,
    realm_uri: baseUrl,
    realm_date_created: created,
    realm_icon_url: organizationIcon(uuid),
    realm_mandatory_topics: settings.topics_policy === 'disable_empty_topic',
    realm_empty_topic_display_name: EMPTY_TOPIC_NAME,
    realm_available_video_chat_providers: { disabled: { name: 'None', id: 0 } },
    realm_default_external_accounts: externalAccounts,
    server_generation: created,
    server_supported_permission_settings: supportedSettings,
    server_timestamp: outside.now() / 1000,
  };
};

export const realmSections = { realm } satisfies Record<string, Section>;
