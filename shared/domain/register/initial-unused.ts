import type { Section } from './initial-section.ts';

/** The types of custom profile fields (specification 2.6). */
const fieldTypes = {
  SHORT_TEXT: { id: 1, name: 'Short text' },
  LONG_TEXT: { id: 2, name: 'Paragraph' },
  SELECT: { id: 3, name: 'Dropdown' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
} as const;

/** Types of state that this service does not keep: clients get the empty form of each. */
export const unusedSections = {
  alert_words: () => ({ alert_words: [] }),
  attachments: () => ({}),
  custom_profile_fields: () => ({ custom_profile_fields: [], custom_profile_field_types: fieldTypes }),
  default_stream_groups: () => ({ realm_default_stream_groups: [] }),
  device: () => ({ devices: {} }),
  drafts: () => ({ drafts: [] }),
  giphy: () => ({ giphy_api_key: '' }),
  muted_users: () => ({ muted_users: [] }),
  navigation_views: () => ({ navigation_views: [] }),
  onboarding_steps: () => ({ onboarding_steps: [] }),
  presence: () => ({ presences: {}, presence_last_update_id: -1 }),
  push_device: () => ({ push_devices: {} }),
  realm_domains: () => ({ realm_domains: [] }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_emoji: () => ({ realm_emoji: {} }),
  realm_filters: () => ({ realm_filters: [] }),
  realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: [] }),
  realm_linkifiers: () => ({ realm_linkifiers: [] }),
  realm_playgrounds: () => ({ realm_playgrounds: [] }),
  reminders: () => ({ reminders: [] }),
  saved_snippets: () => ({ saved_snippets: [] }),
  scheduled_messages: () => ({ scheduled_messages: [] }),
  stop_words: () => ({ stop_words: [] }),
  user_status: () => ({ user_status: {} }),
  video_calls: () => ({ has_zoom_token: false, has_webex_token: false }),
} satisfies Record<string, Section>;
