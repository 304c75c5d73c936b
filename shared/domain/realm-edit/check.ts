import type { Environment } from '../../environment.ts';
import { badRequest, refusal } from '../../kernel/errors.ts';
import { checkPrintable, codePoints } from '../../kernel/text.ts';
import { accessMetadata } from '../../model/channel/access.ts';
import { checkRetention, invalidWord } from '../../model/channel/channel.ts';
import { checkChangedSettings } from '../../model/group/setting.ts';
import { type GroupSetting, groupsOf, isOwner, type Standing } from '../../model/permission/permission.ts';
import {
  limits,
  NO_CHANNEL,
  type RealmSettings,
  realmGroupRules,
  videoChatProviders,
} from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import {
  channelSettingNames,
  type DecidedRealmEdit,
  type RealmEdit,
  type RealmEditSnapshot,
  timeLimitNames,
} from './edit.ts';

/** Settings that only owners may send, even unchanged, as in the reference. */
const ownersOnly: readonly (keyof RealmSettings)[] = [
  'message_retention_days',
  'can_create_groups',
  'can_manage_all_groups',
  'emails_restricted_to_domains',
  'invite_required',
  'waiting_period_threshold',
  // It gives owners access to all private messages (specification 4.8).
  'owner_full_content_access',
];

/** Most users and groups in all group settings of the organization together, since every request reads them. */
const MAX_LISTED = 500;

/** The longest time limit: 68 years, as in the database of the reference. */
const MAX_TIME_LIMIT_SECONDS = 2 ** 31 - 1;

/** Checks an edit as a whole. The endpoint has checked that the caller is an administrator. */
export function checkRealmEdit(
  { standing, realm: before }: Pick<Caller, 'standing' | 'realm'>,
  edit: RealmEdit,
  snapshot: RealmEditSnapshot,
  environment: Environment,
): DecidedRealmEdit {
  if (!isOwner(standing) && ownersOnly.some((name) => name in edit)) throw refusal('notOwner');
  const { name, description, ...given } = edit;
  const settings: RealmSettings = {
    ...before.settings,
    ...given,
    ...checkWords(given, before.settings),
    ...checkTimeLimits(given, before.settings),
    video_chat_provider: checkVideoChat(given, before.settings, environment),
    ...checkGroups(given, before.settings, snapshot),
    ...checkChannels(standing, given, before.settings, snapshot),
  };
  return {
    before,
    after: {
      ...before,
      name: checkOrganizationName(name ?? before.name),
      description: checkDescription(description ?? before.description),
      settings,
    },
  };
}

/** Checks and trims the name of an organization. */
export function checkOrganizationName(given: string): string {
  const name = given.trim();
  if (name === '') throw badRequest('An organization needs a name.');
  if (codePoints(name) > limits.organizationName) {
    throw badRequest(`The name of an organization has at most ${limits.organizationName} characters.`);
  }
  checkPrintable('The name', name);
  return name;
}

function checkDescription(given: string): string {
  if (codePoints(given) > limits.organizationDescription) {
    throw badRequest(
      `The description of an organization has at most ${limits.organizationDescription} characters.`,
    );
  }
  return given;
}

/** Clients send words either raw or as JSON text. */
const unquoted = (given: string): string => given.replace(/^"(.*)"$/, '$1');

/** Topics policy, visibility of earlier versions, and message retention. */
function checkWords(edit: RealmEdit, before: RealmSettings) {
  const {
    topics_policy: policy = before.topics_policy,
    message_edit_history_visibility_policy: visibility = before.message_edit_history_visibility_policy,
    message_retention_days: retention,
  } = edit;
  return {
    topics_policy: oneOf('topics_policy', policy, ['allow_empty_topic', 'disable_empty_topic']),
    message_edit_history_visibility_policy: oneOf('message_edit_history_visibility_policy', visibility, [
      'all',
      'moves',
      'none',
    ]),
    message_retention_days:
      retention === undefined ? before.message_retention_days : checkDefaultRetention(retention),
  };
}

function oneOf<W extends string>(name: string, given: string, words: readonly W[]): W {
  const word = words.find((each) => each === unquoted(given));
  if (word === undefined) throw badRequest(`'${name}' must be one of ${words.join(', ')}.`);
  return word;
}

/** The retention of channels without one of their own: days, or -1 for ever. */
function checkDefaultRetention(given: string): number {
  const days = checkRetention(given);
  // The organization has no default to inherit.
  if (days === undefined) throw invalidWord('message_retention_days', given);
  return days;
}

const checkTimeLimits = (edit: RealmEdit, before: RealmSettings) =>
  after(timeLimitNames, (name) => {
    const given = edit[name];
    return given === undefined ? before[name] : checkTimeLimit(name, given);
  });

/** The value of each setting of these names. */
const after = <N extends string, T>(names: readonly N[], decide: (name: N) => T): Record<N, T> =>
  Object.fromEntries(names.map((name) => [name, decide(name)])) as Record<N, T>;

/** Seconds, or `unlimited`. */
function checkTimeLimit(name: string, given: string): number | null {
  if (unquoted(given) === 'unlimited') return null;
  const seconds = /^\d+$/.test(given) ? Number(given) : 0;
  if (seconds < 1 || seconds > MAX_TIME_LIMIT_SECONDS) throw invalidWord(name, given);
  return seconds;
}

/** A provider that the operator has configured, or the current one. */
function checkVideoChat(
  { video_chat_provider: given }: RealmEdit,
  { video_chat_provider: current }: RealmSettings,
  environment: Environment,
): number {
  if (given === undefined || given === current) return current;
  const ids = Object.values(videoChatProviders(environment)).map(({ id }) => id);
  if (!ids.includes(given)) throw badRequest(`There is no video call provider with the number ${given}.`);
  return given;
}

/** The group settings (specification 2.2, wire facts 4.5). */
function checkGroups(edit: RealmEdit, before: RealmSettings, { named }: RealmEditSnapshot) {
  const settings = checkChangedSettings(realmGroupRules, before, edit, named);
  const listed = Object.values(settings).reduce<number>((sum, value) => sum + listedIn(value), 0);
  if (listed > MAX_LISTED) {
    throw badRequest(`The settings of an organization list at most ${MAX_LISTED} people and groups.`);
  }
  return settings;
}

const listedIn = (setting: GroupSetting): number =>
  typeof setting === 'number' ? 0 : setting.direct_members.length + groupsOf(setting).length;

/** The settings that reference a channel. A negative number means none. */
function checkChannels(
  who: Standing,
  edit: RealmEdit,
  before: RealmSettings,
  { channels }: RealmEditSnapshot,
) {
  return after(channelSettingNames, (name) => {
    const given = edit[name];
    if (given === undefined || given === before[name]) return before[name];
    if (given < 0) return NO_CHANNEL;
    const { channel } = accessMetadata(who, channels.get(given));
    if (channel.isArchived) throw badRequest(`'${name}' cannot be an archived channel.`);
    if (name === 'moderation_request_channel_id' && !channel.isPrivate) {
      throw badRequest('The channel for moderation requests must be private.');
    }
    return given;
  });
}
