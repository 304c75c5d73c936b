import type { Applying, Json, Known } from './known.ts';

function set({ state }: Known, data: Readonly<Record<string, unknown>>): void {
  for (const [property, value] of Object.entries(data)) {
    // It comes with a description, for clients that show it; no state has it.
    if (property === 'rendered_description') continue;
    const name = `realm_${property}`;
    if (!(name in state)) throw new Error(`there is no setting ${name}`);
    state[name] = value;
  }
}

const isDomain =
  (name: string) =>
  ({ domain }: Json): boolean =>
    domain === name;

/** What clients make of events about the organization (wire facts 8, 11). */
export const applyRealm: Applying = {
  'realm/update': (known, { property, value }) => set(known, { [property]: value }),
  'realm/update_dict': (known, { data }) => set(known, data),
  realm_linkifiers: ({ state, kind }, { realm_linkifiers }) => {
    // A registration has none for clients that do not know templates of addresses (companion facts 4.1).
    if (kind.linkifiers) state.realm_linkifiers = realm_linkifiers;
  },
  realm_playgrounds: ({ state }, { realm_playgrounds }) => {
    state.realm_playgrounds = realm_playgrounds;
  },
  'realm_user_settings_defaults/update': ({ state }, { property, value }) => {
    const defaults = state.realm_user_settings_defaults;
    if (!(property in defaults)) throw new Error(`there is no default of ${property}`);
    defaults[property] = value;
  },
  'realm_domains/add': ({ state }, { realm_domain }) => void state.realm_domains.push(realm_domain),
  'realm_domains/change': ({ state }, { realm_domain }) =>
    void Object.assign(state.realm_domains.find(isDomain(realm_domain.domain)), realm_domain),
  'realm_domains/remove': ({ state }, { domain }) => {
    const is = isDomain(domain);
    state.realm_domains = state.realm_domains.filter((each: Json) => !is(each));
  },
  'realm_emoji/add': ({ state }, { emoji }) => {
    state.realm_emoji[emoji.id] = emoji;
  },
  'realm_emoji/update_one': ({ state }, { emoji_id, data }) =>
    void Object.assign(state.realm_emoji[emoji_id], data),
  'realm_emoji/update': ({ state }, { realm_emoji }) => {
    state.realm_emoji = realm_emoji;
  },
};
