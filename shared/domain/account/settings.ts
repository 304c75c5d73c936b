import { badRequest } from '../../kernel/errors.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { personEvent } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkFullName } from '../../model/user/name.ts';
import type { User, UserSettings } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doHidePresence, doShowPresence } from '../presence/presence.ts';
import { doRename } from './update.ts';

/** What a request asks for: settings by their names, of the right types and within their ranges. */
export type SettingsAsked = Readonly<Record<string, unknown>> & { readonly full_name?: string };

/** What of it is different from what there was. */
export interface SettingsChange {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fullName?: string;
  readonly timezone?: string;
}

/** Why something that the reference changes here is refused. */
const refusals: Readonly<Record<string, string>> = {
  email: 'Email addresses cannot be changed.',
  new_password: 'There are no passwords here; make a new API key instead.',
  target_users: 'Everybody changes their own settings only.',
};

/** Decides on the settings that somebody asks for, all together. `stored` are those that they have. */
export function checkSettings(
  { user, standing, realm }: Pick<Caller, 'user' | 'standing' | 'realm'>,
  stored: UserSettings,
  { full_name: name, timezone, ...asked }: SettingsAsked,
): SettingsChange {
  for (const [setting, why] of Object.entries(refusals)) {
    if (asked[setting] !== undefined) throw badRequest(why);
  }
  if (asked.email_address_visibility !== undefined && asked.email_address_visibility !== 1) {
    throw badRequest('Email addresses are visible to everybody in the organization.');
  }
  if (asked.default_language !== undefined && languageName(asked.default_language) === undefined) {
    throw badRequest('There is no such language.');
  }
  if (timezone !== undefined && !isTimeZone(timezone)) throw badRequest('There is no such time zone.');
  const fullName = name === undefined ? user.fullName : checkFullName(name);
  if (fullName !== user.fullName && realm.settings.name_changes_disabled && !isAdministrator(standing)) {
    throw badRequest('Names cannot be changed in this organization.');
  }
  return {
    settings: Object.fromEntries(
      Object.entries(asked).filter(([setting, value]) => stored[setting] !== value),
    ),
    ...(fullName !== user.fullName && { fullName }),
    ...(timezone !== user.timezone && typeof timezone === 'string' && { timezone }),
  };
}

/** Names of time zones begin with a letter; what else is a zone to the runtime is an offset. */
const isTimeZone = (name: unknown): name is string => {
  if (typeof name !== 'string' || !/^[A-Z][\w+/-]{1,40}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** What a language calls itself; undefined for a code that no language has. */
function languageName(code: unknown): string | undefined {
  try {
    const tag = String(code);
    return new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
  } catch {
    // Not the form of a code.
    return undefined;
  }
}

/**
 * Changes the settings of a person, and tells their clients each of them; everybody, what everybody is told of a
 * person. `now` is in seconds. Undefined where nothing is different.
 */
export function doChangeSettings(
  realm: string,
  user: User,
  { settings, fullName, timezone }: SettingsChange,
  now: number,
): Step | undefined {
  const { userId } = user;
  const changes = Object.entries(settings);
  const renamed = fullName === undefined ? undefined : doRename(realm, user, fullName);
  const set = { ...renamed?.set, ...(timezone !== undefined && { timezone }) };
  const { presence_enabled: shown } = settings;
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
    ...(shown === undefined ? [] : (shown ? doShowPresence : doHidePresence)(realm, userId, now)),
  ];
  if (writes.length === 0) return undefined;
  return {
    writes,
    entries: [
      ...(renamed?.entries ?? []),
      ...changes.flatMap(([setting, value]) => settingEvents(userId, setting, value)),
      ...(timezone === undefined
        ? []
        : [
            ...settingEvents(userId, 'timezone', timezone),
            personEvent(userId, { email: user.email, timezone }),
          ]),
    ],
  };
}

/** What is told of one setting: to the clients of the person, and to administrators whether they consent to exports. */
function settingEvents(userId: number, property: string, value: unknown): EventEntry[] {
  const payload = {
    type: 'user_settings',
    op: 'update',
    property,
    value,
    ...(property === 'default_language' && { language_name: languageName(value) }),
  };
  const consent = { type: 'realm_export_consent', user_id: userId, consented: value };
  return [
    { kind: 'event', hearers: { users: [userId] }, payload },
    ...(property === 'allow_private_data_export'
      ? [{ kind: 'event' as const, hearers: { everyone: 'administrators' as const }, payload: consent }]
      : []),
  ];
}
