import { badRequest } from '../../kernel/errors.ts';
import type { Step } from '../../log/bulk.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { personEvent } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkFullName } from '../../model/user/name.ts';
import type { User, UserSettings } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doHidePresence, doShowPresence } from '../presence/event.ts';
import { doRename } from './update.ts';

/** Settings by name, with validated types and ranges. */
export type SettingsInput = Readonly<Record<string, unknown>> & { readonly full_name?: string };

/** Why we refuse some settings of the reference. */
const refusals: Readonly<Record<string, string>> = {
  email: 'Email addresses cannot be changed.',
  target_users: 'Everybody changes their own settings only.',
};

/** Checks a change of settings as a whole. `stored` are the current ones. Returns what differs from them. */
export function checkSettings(
  { user, standing, realm }: Pick<Caller, 'user' | 'standing' | 'realm'>,
  stored: UserSettings,
  { full_name: name, timezone, ...input }: SettingsInput,
) {
  for (const [setting, why] of Object.entries(refusals)) {
    if (input[setting] !== undefined) throw badRequest(why);
  }
  checkEmailVisibility(input.email_address_visibility);
  if (input.default_language !== undefined && languageName(input.default_language) === undefined) {
    throw badRequest('There is no such language.');
  }
  if (timezone !== undefined && !isTimeZone(timezone)) throw badRequest('There is no such time zone.');
  const fullName = name === undefined ? user.fullName : checkFullName(name);
  if (fullName !== user.fullName && realm.settings.name_changes_disabled && !isAdministrator(standing)) {
    throw badRequest('Names cannot be changed in this organization.');
  }
  return {
    settings: Object.fromEntries(
      Object.entries(input).filter(([setting, value]) => stored[setting] !== value),
    ),
    fullName: fullName === user.fullName ? undefined : fullName,
    timezone: timezone === user.timezone ? undefined : timezone,
  };
}

/** Refuses an address that not everybody in the organization sees. */
export function checkEmailVisibility(given: unknown): void {
  if (given !== undefined && given !== 1) {
    throw badRequest('Email addresses are visible to everybody in the organization.');
  }
}

/** Names of time zones begin with a letter; the runtime also accepts offsets, which are not names. */
const isTimeZone = (name: unknown): name is string => {
  if (typeof name !== 'string' || !/^[A-Z][\w+/-]{1,40}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** The name of a language in itself; undefined for an unknown code. */
function languageName(code: unknown): string | undefined {
  try {
    const tag = String(code);
    return new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
  } catch {
    // Malformed code.
    return undefined;
  }
}

/**
 * Changes settings, with an event for each; name and time zone are visible to everyone. `now` is in seconds.
 * Undefined if nothing changes.
 */
export function doChangeSettings(
  realm: string,
  user: User,
  { settings, fullName, timezone }: ReturnType<typeof checkSettings>,
  now: number,
): Step | undefined {
  const { userId } = user;
  const changes = Object.entries(settings);
  const renamed = fullName === undefined ? undefined : doRename(realm, user, fullName);
  const set = { ...renamed?.set, ...(timezone !== undefined && { timezone }) };
  const { presence_enabled: shown } = settings;
  const presence =
    shown === undefined ? undefined : (shown ? doShowPresence : doHidePresence)(realm, user, now);
  const writes: Write[] = [
    ...(changes.length > 0
      ? [
          {
            update: key('settings', { realm, userId }),
            change: { set: settings },
            lastWriterWins: true as const,
          },
        ]
      : []),
    ...(Object.keys(set).length > 0
      ? [
          {
            update: key('user', { realm, userId }),
            change: { set },
            when: { equals: { isActive: true, fullName: user.fullName } },
            lastWriterWins: true as const,
          },
        ]
      : []),
    ...(renamed?.writes ?? []),
    ...(presence?.writes ?? []),
  ];
  if (writes.length === 0) return undefined;
  return {
    writes,
    entries: [
      ...(renamed?.entries ?? []),
      ...changes.flatMap(([setting, value]) => settingEvents(userId, setting, value)),
      ...(presence?.entries ?? []),
      ...(timezone === undefined
        ? []
        : [
            ...settingEvents(userId, 'timezone', timezone),
            personEvent(userId, { email: user.email, timezone }),
          ]),
    ],
  };
}

/** The events for a setting: for the user, and for administrators if it is the consent to exports. */
function settingEvents(userId: number, property: string, value: unknown): EventEntry[] {
  const language = property === 'default_language' && { language_name: languageName(value) };
  const payload = { type: 'user_settings', op: 'update', property, value, ...language };
  const own = eventFor({ users: [userId] }, payload);
  if (property !== 'allow_private_data_export') return [own];
  const consent = { type: 'realm_export_consent', user_id: userId, consented: value };
  return [own, eventFor({ everyone: 'administrators' }, consent)];
}
