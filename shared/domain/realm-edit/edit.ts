import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { NOTHING_RESOLVED } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import { doSetRealmRetention } from '../../model/channel/retention.ts';
import { groupSettingsIn, type RealmGroupName, realmGroupNames } from '../../model/group/realm-groups.ts';
import { fullMemberEvents } from '../../model/group/role-groups.ts';
import {
  doRequireActive,
  loadNamedInSettings,
  type NamedInSettings,
  namedGroupsIn,
} from '../../model/group/setting.ts';
import type { GroupSettingChange } from '../../model/permission/permission.ts';
import {
  defaultRealmSettings,
  derivedSettings,
  NO_CHANNEL,
  type Realm,
  type RealmSettings,
} from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** Settings that are a number of seconds, or no limit. */
export const timeLimitNames = [
  'message_content_edit_limit_seconds',
  'message_content_delete_limit_seconds',
  'move_messages_within_stream_limit_seconds',
  'move_messages_between_streams_limit_seconds',
] as const satisfies readonly (keyof RealmSettings)[];

/** Settings that name a channel, or none. */
export const channelSettingNames = [
  'moderation_request_channel_id',
  'new_stream_announcements_stream_id',
] as const satisfies readonly (keyof RealmSettings)[];

export type TimeLimitName = (typeof timeLimitNames)[number];
export type ChannelSettingName = (typeof channelSettingNames)[number];

/** Settings that are words or numbers of days on the wire, each with rules of its own. */
type WordName = 'topics_policy' | 'message_edit_history_visibility_policy' | 'message_retention_days';

/** Settings that are stored as they come. */
type PlainName = Exclude<
  keyof RealmSettings,
  RealmGroupName | TimeLimitName | ChannelSettingName | WordName | 'video_chat_provider'
>;

/** What a request changes of the organization, under the wire names. What is absent stays. */
export type RealmEdit = {
  readonly name?: string;
  readonly description?: string;
  readonly video_chat_provider?: number;
} & { readonly [N in WordName | TimeLimitName]?: string } & {
  readonly [N in ChannelSettingName]?: number;
} & { readonly [N in PlainName]?: RealmSettings[N] } & {
  readonly [N in RealmGroupName]?: GroupSettingChange;
};

/** What an edit is decided on. */
export interface RealmEditSnapshot {
  readonly named: NamedInSettings;
  /** The channels that are named, as far as they exist. */
  readonly channels: ReadonlyMap<number, ChannelWithSubscription>;
}

/** The organization before and after an edit that was decided on. */
export interface DecidedRealmEdit {
  readonly before: Realm;
  readonly after: Realm;
}

/** Reads the snapshot in one round trip. */
export async function loadRealmEditSnapshot(
  table: Table,
  realm: string,
  userId: number,
  edit: RealmEdit,
): Promise<RealmEditSnapshot> {
  const [named, ...channels] = await Promise.all([
    loadNamedInSettings(
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

/** Settings that clients are told of in the older of two forms, like group settings. */
const inDictionary: ReadonlySet<string> = new Set([
  ...realmGroupNames,
  'allow_message_editing',
  'message_content_edit_limit_seconds',
  'topics_policy',
  'description',
  'can_create_write_only_bots_group',
] satisfies (keyof RealmSettings | keyof ReturnType<typeof derivedSettings> | 'description')[]);

/**
 * What clients hear of an edit: one event for each thing that became different, in the reference's forms. `now` is
 * in milliseconds.
 */
export function eventsOfRealmEdit({ before, after }: DecidedRealmEdit, now: number): EventEntry[] {
  const [old, current] = [before.settings, inOrder(after.settings)];
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

/** The settings in the order in which changes of several are told: a map of the table has none. */
const inOrder = (settings: RealmSettings): RealmSettings => ({ ...defaultRealmSettings, ...settings });

/** One setting that became different; who may see what can rest on it. */
const property = (name: string, value: unknown): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm', op: 'update', property: name, value },
  access: true,
});

const dictionary = (data: object): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm', op: 'update_dict', property: 'default', data },
  access: true,
});

/**
 * Edits the organization, held to what was decided on: its other settings, the channels that settings come to name,
 * and that no group that they come to name was deactivated meanwhile.
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
  const known = namedGroupsIn(groupSettingsIn(before.settings));
  const named = namedGroupsIn(groupSettingsIn(settings)).filter((groupId) => !known.includes(groupId));
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

/** Sets parts of the organization, as long as it is as it was seen. */
const doSet = (
  realm: string,
  { version }: Realm,
  set: Partial<Pick<Realm, 'name' | 'description' | 'settings'>>,
): Write => ({
  update: key('realm', { realm }),
  change: { set: { ...set, version: version + 1 } },
  when: { equals: { version } },
  lastWriterWins: true,
});

/** That channels which settings come to name are still fit for it; one that both name takes one check. */
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

/**
 * Turns off the restriction of addresses: with no domain that is allowed it would keep everybody out.
 */
export function doUnrestrict(realm: string, before: Realm): { write: Write; event: EventEntry } {
  const settings = { ...before.settings, emails_restricted_to_domains: false };
  return {
    write: doSet(realm, before, { settings }),
    event: property('emails_restricted_to_domains', false),
  };
}

/**
 * What archiving a channel means for the organization: settings that name it name none from then on, and if there
 * are none, none may come to name it in the same moment.
 */
export function doForgetChannel(
  realm: string,
  before: Realm,
  channelId: number,
): { readonly write: Write; readonly events: readonly EventEntry[] } {
  const named = channelSettingNames.filter((name) => before.settings[name] === channelId);
  if (named.length === 0) {
    return {
      write: { check: key('realm', { realm }), when: { equals: { version: before.version } } },
      events: [],
    };
  }
  const none = Object.fromEntries(named.map((name) => [name, NO_CHANNEL]));
  return {
    write: doSet(realm, before, { settings: { ...before.settings, ...none } }),
    events: named.map((name) => property(name, NO_CHANNEL)),
  };
}
