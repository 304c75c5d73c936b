import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import { loadChannel } from '../../model/channel/access.ts';
import { doSetRealmRetention } from '../../model/channel/retention.ts';
import { fullMemberEvents } from '../../model/group/role-groups.ts';
import { doRequireActive, loadSettingReferences, namedGroupsIn } from '../../model/group/setting.ts';
import type { GroupSettingChange } from '../../model/permission/permission.ts';
import {
  defaultRealmSettings,
  derivedSettings,
  NO_CHANNEL,
  type Realm,
  type RealmGroupName,
  type RealmSettings,
  realmGroupNames,
} from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';

/** Settings in seconds, or without limit. */
export const timeLimitNames = [
  'message_content_edit_limit_seconds',
  'message_content_delete_limit_seconds',
  'move_messages_within_stream_limit_seconds',
  'move_messages_between_streams_limit_seconds',
] as const satisfies readonly (keyof RealmSettings)[];

/** Settings that reference a channel, or none. */
export const channelSettingNames = [
  'moderation_request_channel_id',
  'new_stream_announcements_stream_id',
] as const satisfies readonly (keyof RealmSettings)[];

export type TimeLimitName = (typeof timeLimitNames)[number];
export type ChannelSettingName = (typeof channelSettingNames)[number];

/** Settings that are words or numbers of days on the wire, each with its own check. */
type WordName = 'topics_policy' | 'message_edit_history_visibility_policy' | 'message_retention_days';

/** Settings that are stored as sent. */
type PlainName = Exclude<
  keyof RealmSettings,
  RealmGroupName | TimeLimitName | ChannelSettingName | WordName | 'video_chat_provider'
>;

/** The changes that a request makes to the organization, under their wire names. */
export type RealmEdit = {
  readonly name?: string;
  readonly description?: string;
  readonly video_chat_provider?: number;
} & { readonly [N in WordName | TimeLimitName]?: string } & {
  readonly [N in ChannelSettingName]?: number;
} & { readonly [N in PlainName]?: RealmSettings[N] } & {
  readonly [N in RealmGroupName]?: GroupSettingChange;
};

/** The organization before and after an edit that passed the checks. */
export interface DecidedRealmEdit {
  readonly before: Realm;
  readonly after: Realm;
}

/** Loads what an edit references: users, groups and existing channels. One round trip. */
export async function loadRealmEditSnapshot(table: Table, realm: string, userId: number, edit: RealmEdit) {
  const [named, ...channels] = await Promise.all([
    loadSettingReferences(
      table,
      realm,
      realmGroupNames.flatMap((name) => edit[name]?.new ?? []),
    ),
    ...channelSettingNames.map((name) => {
      const channelId = edit[name];
      return channelId === undefined ? undefined : loadChannel(table, realm, channelId, userId);
    }),
  ]);
  const found = channels.filter((seen) => seen !== undefined);
  return { named, channels: new Map(found.map((seen) => [seen.channel.channelId, seen])) };
}

export type RealmEditSnapshot = Awaited<ReturnType<typeof loadRealmEditSnapshot>>;

/** Settings whose events have the older of two forms. */
const inDictionary: ReadonlySet<string> = new Set([
  ...realmGroupNames,
  'allow_message_editing',
  'message_content_edit_limit_seconds',
  'topics_policy',
  'description',
  'can_create_write_only_bots_group',
] satisfies (keyof RealmSettings | keyof ReturnType<typeof derivedSettings> | 'description')[]);

/** The events of an edit: one for each change, in the forms of the reference. `now` is in milliseconds. */
export function eventsOfRealmEdit({ before, after }: DecidedRealmEdit, now: number): EventEntry[] {
  const [old, current] = [before.settings, ordered(after.settings)];
  const changed = <T extends object>(was: T, is: T): [string, unknown][] =>
    Object.entries(is).filter(([name, value]) => !isDeepStrictEqual(value, was[name as keyof T]));
  const derived = Object.fromEntries(changed(derivedSettings(old), derivedSettings(current)));
  const { mandatory_topics, ...others } = derived;
  return [
    ...changed(
      { name: before.name, description: before.description, ...old },
      { name: after.name, description: after.description, ...current },
    ).map(([name, value]) =>
      inDictionary.has(name)
        ? dictionary({
            [name]: value,
            ...(name === 'topics_policy' && mandatory_topics !== undefined && { mandatory_topics }),
            ...(name === 'description' && {
              rendered_description: render(after.description, NOTHING_RESOLVED).html,
            }),
          })
        : property(name, value),
    ),
    ...Object.entries(others).map(([name, value]) =>
      inDictionary.has(name) ? dictionary({ [name]: value }) : property(name, value),
    ),
    ...fullMemberEvents(old.waiting_period_threshold, current.waiting_period_threshold, now),
  ];
}

/** The settings in a fixed order for events: a map of the table has none. */
const ordered = (settings: RealmSettings): RealmSettings => ({ ...defaultRealmSettings, ...settings });

/** A changed setting. It may change what users can see. */
const property = (name: string, value: unknown): EventEntry =>
  eventForEveryone({ type: 'realm', op: 'update', property: name, value }, { access: true });

const dictionary = (data: object): EventEntry =>
  eventForEveryone({ type: 'realm', op: 'update_dict', property: 'default', data }, { access: true });

/**
 * Edits the organization, on condition that it, the newly referenced channels and the newly referenced groups are
 * unchanged.
 */
export function doEditRealm(
  realm: string,
  { before, after }: DecidedRealmEdit,
  entries: readonly EventEntry[],
): Change<Record<string, never>> {
  const { name, description, settings } = after;
  const days = {
    before: before.settings.message_retention_days,
    after: settings.message_retention_days,
  };
  const namedIn = (all: RealmSettings) => namedGroupsIn(realmGroupNames.map((setting) => all[setting]));
  const known = namedIn(before.settings);
  const named = namedIn(settings).filter((groupId) => !known.includes(groupId));
  return {
    writes: [
      doSet(realm, before, { name, description, settings }),
      ...channelChecks(realm, before.settings, settings),
      ...doRequireActive(realm, named),
      ...doSetRealmRetention(realm, days, before.version + 1),
    ],
    entries,
    result: {},
  };
}

/** Sets attributes of the organization, if it is unchanged. */
export const doSet = (
  realm: string,
  { version }: Realm,
  set: Partial<Pick<Realm, 'name' | 'description' | 'settings' | 'pictures' | 'deactivated'>>,
): Write => ({
  update: key('realm', { realm }),
  change: { set: { ...set, version: version + 1 } },
  when: hasVersion(version),
  lastWriterWins: true,
});

/** Checks that newly referenced channels are still valid. A channel that both settings reference takes one check. */
function channelChecks(realm: string, before: RealmSettings, after: RealmSettings): Write[] {
  const named = new Set(
    channelSettingNames.filter((name) => after[name] !== before[name]).map((name) => after[name]),
  );
  named.delete(NO_CHANNEL);
  return [...named].map((channelId) => ({
    check: key('channel', { realm, channelId }),
    when: {
      equals: {
        isArchived: false,
        ...(channelId === after.moderation_request_channel_id && { isPrivate: true }),
      },
    },
  }));
}

/** Turns off the restriction to domains: without an allowed domain it would keep everyone out. */
export function doUnrestrict(realm: string, before: Realm): { write: Write; event: EventEntry } {
  const settings = { ...before.settings, emails_restricted_to_domains: false };
  return {
    write: doSet(realm, before, { settings }),
    event: property('emails_restricted_to_domains', false),
  };
}

/**
 * When a channel is archived, clears the settings that reference it. If none does, fails the transaction if one was
 * set meanwhile.
 */
export function doClearChannelSettings(
  realm: string,
  before: Realm,
  channelId: number,
): { readonly write: Write; readonly events: readonly EventEntry[] } {
  const named = channelSettingNames.filter((name) => before.settings[name] === channelId);
  if (named.length === 0) {
    return {
      write: { check: key('realm', { realm }), when: hasVersion(before.version) },
      events: [],
    };
  }
  const none = Object.fromEntries(named.map((name) => [name, NO_CHANNEL]));
  return {
    write: doSet(realm, before, { settings: { ...before.settings, ...none } }),
    events: named.map((name) => property(name, NO_CHANNEL)),
  };
}
