import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { checkQuota, doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { renderDescription } from '../../markdown/render.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { loadUsersById } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import {
  type LoadedReferences,
  loadReferences,
  referenceLookupKeys,
  resolveReferences,
  withoutHiddenUsers,
} from '../mention/references.ts';
import { loadProfileFields, type ProfileField, type ProfileFields } from './field.ts';
import { accessField } from './field-check.ts';
import { checkValue, isMarkdown, liveValues, type Profile, type StoredValue, valueObject } from './value.ts';

/** Values for somebody's profile with what they are decided on: also whom they name, in Markdown or in lists. */
export interface GivenValues extends ProfileSnapshot {
  readonly data: readonly AskedValue[];
  readonly named: LoadedReferences;
  readonly listed: readonly User[];
}

/** Who gives them, and where. */
interface Giving {
  readonly outside: Outside;
  readonly realm: string;
  readonly resolved: Resolved;
  readonly userId: number;
}

/** The names in values; which of them are Markdown is not known yet. */
const namesIn = (data: readonly AskedValue[]): References =>
  extractReferences(data.map(({ value }) => (typeof value === 'string' ? value : '')).join('\n'));

/** The names in values, as lookup keys. */
export const valueLookupKeys = (data: readonly AskedValue[] = []): LookupKey[] =>
  referenceLookupKeys(namesIn(data));

/** Reads what values for the profile of `ofUserId` are decided on. One round trip. */
export async function loadGivenValues(
  { outside, realm, resolved, userId }: Giving,
  ofUserId: number,
  data: readonly AskedValue[],
): Promise<GivenValues> {
  const listed = data.flatMap(({ value }) => (typeof value === 'string' ? [] : (value ?? [])));
  const [snapshot, named, users] = await Promise.all([
    loadProfileSnapshot(outside.table, realm, ofUserId),
    loadReferences(outside, resolved, namesIn(data), userId),
    loadUsersById(outside.table, realm, listed),
  ]);
  return { ...snapshot, data, named, listed: users };
}

/**
 * Decides on values for the profile of `target`, who must be a person. Reads only for guests who do not see
 * everyone, in one round trip.
 */
export async function checkGivenValues(
  outside: Outside,
  caller: Caller,
  target: User,
  given: GivenValues,
): Promise<DecidedProfile> {
  if (target.isBot) throw badRequest('Bots have no profile.');
  const { data, named, listed } = given;
  const everybody = new Map([...named.users.values(), ...listed].map((user) => [user.userId, user]));
  const hidden = await hiddenUsers(outside, caller, [...everybody.values()]);
  const found = resolveReferences(caller.standing, withoutHiddenUsers(named, hidden));
  return checkValues(caller, given, data, {
    people: new Map(listed.filter(({ userId }) => !hidden.has(userId)).map((user) => [user.userId, user])),
    render: (text) => renderDescription(text, found),
  });
}

/** What a request says of a field; nothing, a blank text and an empty list take away what the profile says. */
export interface AskedValue {
  readonly id: number;
  readonly value: string | readonly number[] | null;
}

/** What a change of a profile is decided on. */
export interface ProfileSnapshot {
  readonly fields: ProfileFields;
  readonly profile: Profile | undefined;
  /** How many bytes the organization's profiles take. */
  readonly bytes: number;
}

/** Reads the snapshot of a change of this user's profile. One round trip. */
export async function loadProfileSnapshot(
  table: Table,
  realm: string,
  userId: number,
): Promise<ProfileSnapshot> {
  const [fields, profile, bytes] = await Promise.all([
    loadProfileFields(table, realm),
    table.get('profile', { realm, userId }),
    loadQuotaUse(table, realm, 'profiles'),
  ]);
  return { fields, profile, bytes };
}

/** What values are made with. */
interface ValueTools {
  /** The users whom the caller may know of, among those whom the request names. */
  readonly people: ReadonlyMap<number, User>;
  /** Makes HTML of Markdown. */
  readonly render: (text: string) => string;
}

/** A change of a profile that was decided on. */
export interface DecidedProfile extends ProfileSnapshot {
  readonly values: Readonly<Record<string, StoredValue>>;
  /** What becomes different, as clients are told. */
  readonly told: readonly { readonly id: number; readonly value: string | null }[];
}

/** Most bytes of a profile: it is one item of the table, and so is the event that tells all of it. */
const MAX_BYTES = 100_000;

/**
 * Decides on values for fields of a profile, which may be the caller's own or, for administrators, anybody's
 * (specification 4.4: `editable_by_user`). If a field is given several values, the last one counts.
 */
export function checkValues(
  caller: Pick<Caller, 'standing'>,
  snapshot: ProfileSnapshot,
  data: readonly AskedValue[],
  { people, render }: ValueTools,
): DecidedProfile {
  const asked = data.map(({ id, value }): readonly [ProfileField, StoredValue | undefined] => {
    const field = accessFieldToFill(caller, id, snapshot.fields);
    if (value === null || isEmpty(value)) return [field, undefined];
    const stored = checkValue(field, value, people);
    return [field, isMarkdown(field) ? { ...stored, rendered: render(stored.value) } : stored];
  });
  return decide(snapshot, asked);
}

/** Decides on taking away what a profile says in these fields; where it says nothing, nothing happens. */
export const checkRemovals = (
  caller: Pick<Caller, 'standing'>,
  snapshot: ProfileSnapshot,
  fieldIds: readonly number[],
): DecidedProfile =>
  decide(
    snapshot,
    fieldIds.map((id) => [accessFieldToFill(caller, id, snapshot.fields), undefined]),
  );

const isEmpty = (value: string | readonly number[]): boolean =>
  typeof value === 'string' ? value.trim() === '' : value.length === 0;

function accessFieldToFill(
  { standing }: Pick<Caller, 'standing'>,
  id: number,
  all: ProfileFields,
): ProfileField {
  const field = accessField(id, all);
  if (!field.editableByUser && !isAdministrator(standing)) {
    throw badRequest(`Only organization administrators may change '${field.name}'.`);
  }
  return field;
}

/** The profile without what does not count any more and with what was asked for, and what of that is news. */
function decide(
  snapshot: ProfileSnapshot,
  asked: readonly (readonly [ProfileField, StoredValue | undefined])[],
): DecidedProfile {
  const values = new Map(
    liveValues(snapshot.fields.fields, snapshot.profile).map(([{ fieldId }, stored]) => [fieldId, stored]),
  );
  const told: DecidedProfile['told'][number][] = [];
  for (const [{ fieldId: id }, stored] of new Map(asked)) {
    if (values.get(id)?.value === stored?.value) continue;
    told.push({ id, ...(stored ? valueObject(stored) : { value: null }) });
    if (stored) values.set(id, stored);
    else values.delete(id);
  }
  const kept = Object.fromEntries(values);
  if (profileBytes(kept) > MAX_BYTES) throw badRequest('The profile is too large.');
  checkQuota('profiles', snapshot.bytes, profileBytes(kept) - profileBytes(snapshot.profile?.values));
  return { ...snapshot, values: kept, told };
}

/** The bytes that a profile takes of its quota. */
const profileBytes = (values: DecidedProfile['values'] = {}): number =>
  Buffer.byteLength(JSON.stringify(values));

/**
 * Changes a profile, held to the profile and to the fields that were decided on, and tells everybody; no step where
 * nothing becomes different.
 */
export function doChangeProfile(
  realm: string,
  userId: number,
  { fields, profile, values, told }: DecidedProfile,
): Step[] {
  if (told.length === 0) return [];
  const writes: Write[] = [
    {
      put: key('profile', { realm, userId }),
      item: { userId, values, version: (profile?.version ?? 0) + 1 },
      when: profile === undefined ? { absent: true } : { equals: { version: profile.version } },
      lastWriterWins: true,
    },
    { check: key('profileFields', { realm }), when: { equals: { version: fields.version } } },
    ...doUseQuota(realm, 'profiles', profileBytes(values) - profileBytes(profile?.values)),
  ];
  return [{ writes, entries: told.map((value) => valueEvent(userId, value)) }];
}

const valueEvent = (userId: number, value: object): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm_user', op: 'update', person: { user_id: userId, custom_profile_field: value } },
});
