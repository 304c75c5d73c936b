import { loadList } from '../../kernel/list-cache.ts';
import { MOMENT } from '../../log/slot.ts';
import { channelGroupRules } from '../../model/channel/channel.ts';
import { groupPermissionRules } from '../../model/group/group.ts';
import { type GroupSettingRule, systemGroups } from '../../model/permission/permission.ts';
import { domainObject, loadDomains } from '../../model/realm/domains.ts';
import { legacyPolicies } from '../../model/realm/legacy-policies.ts';
import { linkifierObjects, loadLinkifiers } from '../../model/realm/linkifiers.ts';
import { MAX_PICTURE_MIB } from '../../model/realm/picture.ts';
import {
  derivedSettings,
  EMPTY_TOPIC_NAME,
  isWebPublicEnabled,
  limits,
  pushSettings,
  realmGroupRules,
  videoChatProviders,
} from '../../model/realm/realm.ts';
import { realmAuthenticationMethods } from '../../model/realm/sign-in-methods.ts';
import { passwordRules } from '../../model/user/password.ts';
import { loadTokenPresence } from '../calls/token.ts';
import { emojiObjects } from '../emoji/emoji.ts';
import { thumbnailFormats } from '../files/thumbnail.ts';
import { MAX_FILE_MIB, uploadQuotaMib } from '../files/upload.ts';
import { OFFLINE_SECONDS } from '../presence/presence.ts';
import { externalAccounts } from '../profile/field.ts';
import { realmPictures } from '../realm-edit/pictures.ts';
import { loadPlaygrounds, playgroundObjects } from '../realm-edit/playgrounds.ts';
import { MAX_NOTE } from '../scheduled/reminder.ts';
import { reportTypes } from '../send/report.ts';
import type { Sections, StateContext } from './section.ts';

/** What the service is and can do, the same for every organization. */
const server = {
  development_environment: false,
  event_queue_longpoll_timeout_seconds: 90,
  gif_rating_policy_options: {
    disabled: { id: 0, name: 'No GIFs' },
    y: { id: 1, name: 'GIFs rated Y (for the very young)' },
    g: { id: 2, name: 'GIFs rated G (for everybody) and below' },
    pg: { id: 3, name: 'GIFs rated PG (parental guidance) and below' },
    'pg-13': { id: 4, name: 'GIFs rated PG-13 (parental guidance under 13) and below' },
    r: { id: 5, name: 'GIFs rated R (restricted) and below' },
  },
  giphy_api_key: '',
  jitsi_server_url: null,
  klipy_api_key: '',
  max_avatar_file_size_mib: MAX_PICTURE_MIB,
  max_bulk_new_subscription_messages: limits.newSubscriptionMessages,
  max_channel_folder_description_length: limits.folderDescription,
  max_channel_folder_name_length: limits.folderName,
  max_file_upload_size_mib: MAX_FILE_MIB,
  max_icon_file_size_mib: MAX_PICTURE_MIB,
  max_logo_file_size_mib: MAX_PICTURE_MIB,
  max_message_length: limits.message,
  max_reminder_note_length: MAX_NOTE,
  max_stream_description_length: limits.channelDescription,
  max_stream_name_length: limits.channelName,
  max_topic_length: limits.topic,
  password_max_length: passwordRules.maxLength,
  password_min_guesses: passwordRules.minGuesses,
  password_min_length: passwordRules.minLength,
  server_avatar_changes_disabled: false,
  server_can_summarize_topics: false,
  server_inline_image_preview: true,
  server_inline_url_embed_preview: false,
  server_jitsi_server_url: null,
  server_max_deactivated_realm_deletion_days: null,
  server_min_deactivated_realm_deletion_days: null,
  server_name_changes_disabled: false,
  server_needs_upgrade: false,
  server_presence_offline_threshold_seconds: OFFLINE_SECONDS,
  server_presence_ping_interval_seconds: 60,
  server_report_message_types: Object.entries(reportTypes).map(([key, name]) => ({ key, name })),
  server_thumbnail_formats: thumbnailFormats,
  server_typing_started_expiry_period_milliseconds: MOMENT,
  server_typing_started_wait_period_milliseconds: 30_000,
  server_typing_stopped_wait_period_milliseconds: 12_000,
  settings_send_digest_emails: false,
  tenor_api_key: '',
  upgrade_text_for_wide_organization_logo: '',
  zulip_plan_is_not_limited: true,
} as const;

/** Settings that this service does not have, with the value that says so to clients. */
const absent = {
  demo_organization_scheduled_deletion_date: null,
  realm_can_manage_billing_group: systemGroups.administrators.id,
  realm_can_set_delete_message_policy_group: systemGroups.moderators.id,
  realm_can_summarize_topics_group: systemGroups.nobody.id,
  realm_bot_domain: '',
  realm_default_avatar_source: 'G',
  realm_default_code_block_language: '',
  realm_default_language: 'en',
  realm_digest_emails_enabled: false,
  realm_digest_weekday: 1,
  realm_disallow_disposable_email_addresses: false,
  realm_email_auth_enabled: true,
  realm_email_changes_disabled: true,
  realm_enable_guest_user_dm_warning: true,
  realm_enable_guest_user_indicator: true,
  realm_gif_rating_policy: 2,
  realm_inline_url_embed_preview: false,
  realm_jitsi_server_url: null,
  realm_media_preview_size: 100,
  realm_message_content_allowed_in_email_notifications: false,
  realm_org_type: 0,
  realm_password_auth_enabled: true,
  realm_plan_type: 1,
  realm_require_e2ee_push_notifications: true,
  realm_require_unique_names: false,
  realm_send_welcome_emails: false,
  realm_signup_announcements_stream_id: -1,
  realm_want_advertise_in_communities_directory: false,
  realm_welcome_message_custom_text: '',
  realm_workplace_users_group: systemGroups.everyone.id,
  realm_zulip_update_announcements_stream_id: -1,
} as const;

const groupName = (groupId: number): string | undefined =>
  Object.values(systemGroups).find(({ id }) => id === groupId)?.name;

/**
 * The rules of group settings, so that clients offer only valid values. `creator` is the name of the default value of
 * settings that are the creator's.
 */
const clientRules = (
  rules: Readonly<Record<string, GroupSettingRule>>,
  creator = '',
  defaultForSystemGroups: string | null = null,
) =>
  Object.fromEntries(
    Object.entries(rules).map(([name, { initial, nobody, everyone, systemOnly, only = [] }]) => [
      name,
      {
        require_system_group: systemOnly === true,
        allow_internet_group: false,
        allow_nobody_group: nobody,
        allow_everyone_group: everyone,
        default_group_name: initial === 'creator' ? creator : groupName(initial),
        default_for_system_groups: defaultForSystemGroups,
        allowed_system_groups: only.map(groupName),
      },
    ]),
  );

/** The rules of all group settings (wire facts 2, 4.5, 7). */
const supportedSettings = {
  realm: clientRules(realmGroupRules),
  stream: clientRules(channelGroupRules, 'channel_creator'),
  group: clientRules(groupPermissionRules, 'group_creator', systemGroups.nobody.name),
};

/** The organization, its settings, and the limits of the service (wire facts 2). */
function realmSection({ caller, baseUrl, outside }: StateContext): object {
  const { name, description, created, uuid, settings } = caller.realm;
  const { icon, logo, night_logo: nightLogo } = realmPictures(caller.realm);
  return {
    ...server,
    ...absent,
    ...Object.fromEntries(
      Object.entries({
        ...settings,
        ...derivedSettings(settings),
        ...pushSettings(caller.realm, outside.environment),
        ...icon,
        ...logo,
        ...nightLogo,
      }).map(([setting, value]) => [`realm_${setting}`, value]),
    ),
    ...legacyPolicies(settings),
    realm_name: name,
    realm_description: description,
    realm_url: baseUrl,
    realm_uri: baseUrl,
    realm_date_created: created,
    realm_uuid: uuid,
    realm_upload_quota_mib: uploadQuotaMib(outside.environment) ?? null,
    realm_empty_topic_display_name: EMPTY_TOPIC_NAME,
    realm_authentication_methods: realmAuthenticationMethods(outside.environment),
    realm_available_video_chat_providers: videoChatProviders(outside.environment),
    realm_default_external_accounts: externalAccounts,
    server_emoji_data_url: `${baseUrl}/static/emoji-names.json`,
    server_generation: created,
    server_supported_permission_settings: supportedSettings,
    server_timestamp: outside.now() / 1000,
    server_web_public_streams_enabled: isWebPublicEnabled(outside.environment),
  };
}

export const realmSections: Sections = {
  realm: realmSection,
  /** The domains that email addresses of new users may have, if they are restricted. */
  realm_domains: async ({ caller, outside }) => ({
    realm_domains: (await loadDomains(outside.table, caller.realmId)).list.map(domainObject),
  }),
  /** The linkifiers, for clients that know templates of addresses (companion facts 4.1). */
  realm_linkifiers: async ({ caller, outside, capabilities }) => {
    const isKnown = capabilities.includes('linkifier_url_template') && caller.realm.linkifiers !== undefined;
    const { list } = isKnown ? await loadLinkifiers(outside.table, caller.realmId) : { list: [] };
    return { realm_linkifiers: linkifierObjects(list) };
  },
  realm_playgrounds: async ({ caller, outside }) => ({
    realm_playgrounds: playgroundObjects((await loadPlaygrounds(outside.table, caller.realmId)).list),
  }),
  /** The custom emoji, including deactivated ones. */
  realm_emoji: async ({ caller, outside, cursor }) => ({
    realm_emoji: emojiObjects(await loadList(outside, 'emoji', caller.realmId, cursor)),
  }),
  /** Whether the caller has connected each provider of video calls (specification 4.12, wire facts 13.4). */
  video_calls: async ({ caller, outside }) => {
    const names = ['zoom', 'webex'] as const;
    const present = await loadTokenPresence(outside, caller.realmId, caller.user.userId, names);
    return Object.fromEntries(names.map((name) => [`has_${name}_token`, present.has(name)]));
  },
};
