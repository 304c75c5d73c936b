import type { Change } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import { defaultUserSettings } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone, type Write } from '../../table/write.ts';
import { checkEmailVisibility } from './settings.ts';

/** The settings of new accounts that an organization has chosen (companion facts 4.3). */
interface NewUserSettings {
  /** Incremented by each change. */
  readonly version: number;
  /** Those that differ from the defaults of the service, under their wire names. */
  readonly chosen: Readonly<Record<string, unknown>>;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    newUserSettings: NewUserSettings;
  }
}

const none: NewUserSettings = { version: 0, chosen: {} };

/** Settings that only their owner has: new accounts do not get them from the organization. */
const {
  allow_private_data_export: _,
  enable_login_emails,
  enable_marketing_emails,
  timezone,
  ...serviceDefaults
} = defaultUserSettings;

/** One round trip. */
export const loadNewUserSettings = async (table: Table, realm: string): Promise<NewUserSettings> =>
  (await table.get('newUserSettings', { realm })) ?? none;

/** All settings of new accounts, as clients see them. */
export const newUserSettingsObject = ({ chosen }: NewUserSettings): Readonly<Record<string, unknown>> => ({
  ...serviceDefaults,
  ...chosen,
});

/**
 * Checks new defaults, which the declaration has validated. Returns those that differ from the present ones.
 *
 * @throws Refusal `BAD_REQUEST` for an address that is not visible to everybody
 */
export function checkNewUserSettings(
  before: NewUserSettings,
  asked: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  checkEmailVisibility(asked.email_address_visibility);
  const present = newUserSettingsObject(before);
  return Object.fromEntries(Object.entries(asked).filter(([name, value]) => present[name] !== value));
}

/** Stores changed defaults, with an event for each. Fails if they have changed since they were read. */
export function doChangeNewUserSettings(
  realm: string,
  { version, chosen }: NewUserSettings,
  changes: Readonly<Record<string, unknown>>,
): Change<void> {
  const differs = ([name, value]: [string, unknown]) => defaultUserSettings[name] !== value;
  return {
    writes: [
      {
        put: key('newUserSettings', { realm }),
        item: {
          version: version + 1,
          chosen: Object.fromEntries(Object.entries({ ...chosen, ...changes }).filter(differs)),
        },
        when: hasVersionOrNone(version),
      },
    ],
    entries: Object.entries(changes).map(([property, value]) =>
      eventForEveryone({ type: 'realm_user_settings_defaults', op: 'update', property, value }),
    ),
    result: undefined,
  };
}

/** Gives a new account the settings that the organization has chosen. */
export const doSettleIn = (realm: string, userId: number, { chosen }: NewUserSettings): Write[] =>
  Object.keys(chosen).length > 0 ? [{ put: key('settings', { realm, userId }), item: { ...chosen } }] : [];
