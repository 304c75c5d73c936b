import type { Section } from './section.ts';

/** Types of state that this service does not keep: clients get the empty form of each. */
export const unusedSections = {
  alert_words: () => ({ alert_words: [] }),
  attachments: () => ({}),
  default_stream_groups: () => ({ realm_default_stream_groups: [] }),
  drafts: () => ({ drafts: [] }),
  giphy: () => ({ giphy_api_key: '' }),
  klipy: () => ({ klipy_api_key: '' }),
  muted_users: () => ({ muted_users: [] }),
  navigation_views: () => ({ navigation_views: [] }),
  onboarding_steps: () => ({ onboarding_steps: [], navigation_tour_video_url: null }),
  realm_billing: () => ({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_filters: () => ({ realm_filters: [] }),
  realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: [] }),
  realm_linkifiers: () => ({ realm_linkifiers: [] }),
  realm_playgrounds: () => ({ realm_playgrounds: [] }),
  reminders: () => ({ reminders: [] }),
  saved_snippets: () => ({ saved_snippets: [] }),
  scheduled_messages: () => ({ scheduled_messages: [] }),
  stop_words: () => ({ stop_words: [] }),
} satisfies Record<string, Section>;
