import { badRequest } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { checkQuota, doUseQuota, loadQuotaUse } from '../../kernel/quota.ts';
import type { Step } from '../../log/bulk.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { renderDescription } from '../../markdown/render.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { loadUsersById } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
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

/** The snapshot for new profile values, with the users that they reference, in Markdown or in lists. */
interface ProfileInputSnapshot extends ProfileSnapshot {
  readonly data: readonly ValueInput[];
  readonly named: LoadedReferences;
  readonly listed: readonly User[];
}

/** The request that sets values. */
interface ProfileRequest {
  readonly outside: Outside;
  readonly realm: string;
  readonly resolved: Resolved;
  readonly userId: number;
}

/** The references in values. Which values are Markdown is not known yet. */
const namesIn = (data: readonly ValueInput[]): References =>
  extractReferences(data.map(({ value }) => (typeof value === 'string' ? value : '')).join('\n'));

/** The references in values, as lookup keys. */
export const valueLookupKeys = (data: readonly ValueInput[] = []): LookupKey[] =>
  referenceLookupKeys(namesIn(data));

/** Loads the snapshot for values of the profile of `ofUserId`. One round trip. */
export async function loadProfileInput(
  { outside, realm, resolved, userId }: ProfileRequest,
  ofUserId: number,
  data: readonly ValueInput[],
): Promise<ProfileInputSnapshot> {
  const listed = data.flatMap(({ value }) => (typeof value === 'string' ? [] : (value ?? [])));
  const [snapshot, named, users] = await Promise.all([
    loadProfileSnapshot(outside.table, realm, ofUserId),
    loadReferences(outside, resolved, namesIn(data), userId),
    loadUsersById(outside, realm, listed),
  ]);
  return { ...snapshot, data, named, listed: users };
}

/**
 * Checks values for the profile of `target`: the caller's own or, for administrators, anyone's (specification 4.4:
 * `editable_by_user`). The target must be a person. The last value for a field counts. One round trip for guests with
 * restricted access to users, none for others.
 */
export async function checkProfileInput(
  outside: Outside,
  caller: Caller,
  target: User,
  given: ProfileInputSnapshot,
): Promise<DecidedProfile> {
  if (target.isBot) throw badRequest('Bots have no profile.');
  const { data, named, listed } = given;
  const everybody = new Map([...named.users.values(), ...listed].map((user) => [user.userId, user]));
  const hidden = await hiddenUsers(outside, caller, [...everybody.values()]);
  const found = resolveReferences(caller.standing, withoutHiddenUsers(named, hidden));
  const visible = listed.filter(({ userId }) => !hidden.has(userId));
  const people = new Map(visible.map((user) => [user.userId, user]));
  const asked = data.map(({ id, value }): readonly [ProfileField, StoredValue | undefined] => {
    const field = accessFieldToFill(caller, id, given.fields);
    if (value === null || isEmpty(value)) return [field, undefined];
    const stored = checkValue(field, value, people);
    if (!isMarkdown(field)) return [field, stored];
    return [field, { ...stored, rendered: renderDescription(stored.value, found) }];
  });
  return decide(given, asked);
}

/** A value in a request. Null, blank text and an empty list remove the value. */
export interface ValueInput {
  readonly id: number;
  readonly value: string | readonly number[] | null;
}

/** The snapshot for a change of a profile. */
interface ProfileSnapshot {
  readonly fields: ProfileFields;
  readonly profile: Profile | undefined;
  /** The quota that the profiles of the organization use. */
  readonly bytes: number;
}

/** Loads the snapshot. One round trip. */
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

/** A change of a profile that passed the checks. */
interface DecidedProfile extends ProfileSnapshot {
  readonly values: Readonly<Record<string, StoredValue>>;
  /** The changed values as clients see them. */
  readonly changes: readonly { readonly id: number; readonly value: string | null }[];
}

/** Largest profile: one item of the table, and one event. */
const MAX_BYTES = 100_000;

/** Checks the removal of values. Missing values are ignored. */
export const checkRemovals = (
  caller: Caller,
  snapshot: ProfileSnapshot,
  fieldIds: readonly number[],
): DecidedProfile =>
  decide(
    snapshot,
    fieldIds.map((id) => [accessFieldToFill(caller, id, snapshot.fields), undefined]),
  );

const isEmpty = (value: string | readonly number[]): boolean =>
  typeof value === 'string' ? value.trim() === '' : value.length === 0;

function accessFieldToFill({ standing }: Caller, id: number, all: ProfileFields): ProfileField {
  const field = accessField(id, all);
  if (!field.editableByUser && !isAdministrator(standing)) {
    throw badRequest(`Only organization administrators may change '${field.name}'.`);
  }
  return field;
}

/** The new profile, without values that are no longer valid, and what changes. */
function decide(
  snapshot: ProfileSnapshot,
  asked: readonly (readonly [ProfileField, StoredValue | undefined])[],
): DecidedProfile {
  const values = new Map(
    liveValues(snapshot.fields.fields, snapshot.profile).map(([{ fieldId }, stored]) => [fieldId, stored]),
  );
  const changes: DecidedProfile['changes'][number][] = [];
  for (const [{ fieldId: id }, stored] of new Map(asked)) {
    if (values.get(id)?.value === stored?.value) continue;
    changes.push({ id, ...(stored ? valueObject(stored) : { value: null }) });
    if (stored) values.set(id, stored);
    else values.delete(id);
  }
  const kept = Object.fromEntries(values);
  if (profileBytes(kept) > MAX_BYTES) throw badRequest('The profile is too large.');
  checkQuota('profiles', snapshot.bytes, profileBytes(kept) - profileBytes(snapshot.profile?.values));
  return { ...snapshot, values: kept, changes };
}

/** The quota that a profile uses. */
const profileBytes = (values: DecidedProfile['values'] = {}): number =>
  Buffer.byteLength(JSON.stringify(values));

/** Changes a profile, on condition that the profile and the fields are unchanged. No step if nothing changes. */
export function doChangeProfile(
  realm: string,
  userId: number,
  { fields, profile, values, changes }: DecidedProfile,
): Step[] {
  if (changes.length === 0) return [];
  const writes: Write[] = [
    {
      put: key('profile', { realm, userId }),
      item: { userId, values, version: (profile?.version ?? 0) + 1 },
      when: hasVersion(profile?.version),
      lastWriterWins: true,
    },
    { check: key('profileFields', { realm }), when: hasVersion(fields.version) },
    ...doUseQuota(realm, 'profiles', profileBytes(values) - profileBytes(profile?.values)),
  ];
  return [{ writes, entries: changes.map((value) => valueEvent(userId, value)) }];
}

const valueEvent = (userId: number, value: object): EventEntry =>
  eventForEveryone({
    type: 'realm_user',
    op: 'update',
    person: { user_id: userId, custom_profile_field: value },
  });
