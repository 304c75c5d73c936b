import fc from 'fast-check';
import { type GroupSetting, onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import type { Served } from '../../shared/serve/serve.ts';
import type { Person, Reply, TestRealm } from '../support/realm.ts';
import type { Known } from './known.ts';

/*
 * What people do at random. A deed says by numbers which of the things there are it is about, so that it means
 * something whatever was done before it.
 */

/** A request, before it is known what there is. */
export interface Deed {
  /** Which of the people does it. */
  readonly who: number;
  /** What it is, for people who look for a fault. */
  readonly what: string;
  readonly request: (known: Known) => Request;
}

interface Request {
  readonly handler: Served;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly path?: Readonly<Record<string, number>>;
}

/** Does it through a container. */
export function perform({ who, request }: Deed, known: Known, through: TestRealm): Promise<Reply> {
  const { handler, parameters, path } = request(known);
  return through.call(handler, nth(known.people, who), parameters, path && { path });
}

type Asked<A> = A extends fc.Arbitrary<infer V> ? V : never;

/** A kind of deed: what is asked for at random, and the request for it. */
export const deed = <A extends fc.Arbitrary<object>>(
  what: string,
  asked: A,
  request: (asked: Asked<A>, known: Known) => Request,
): fc.Arbitrary<Deed> =>
  fc.record({ who: some, asked }).map(({ who, asked }) => ({
    who,
    what: `${what} ${JSON.stringify(asked)}`,
    request: (known) => request(asked as Asked<A>, known),
  }));

/** Which one of the things there are, and which ones. */
export const some = fc.nat(11);
export const few = fc.uniqueArray(some, { maxLength: 2 });

/** Fields that may be left out. */
export const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T, never>(fields, { requiredKeys: [] });

/** The names that the things of one kind fight for; none of these words stands anywhere else. */
export const words = ['oak', 'elm', 'Elm', 'fir'] as const;
export const nameOf = (kind: 'c' | 'f' | 'g') => fc.constantFrom(...words).map((word) => `${kind}${word}`);

/** An id that nothing has. */
const NOTHING = 999_999;

function nth<T>(list: readonly T[], n: number): T | undefined {
  return list[n % Math.max(list.length, 1)];
}

export const channelId = ({ channels }: Known, n: number): number => nth(channels, n)?.channelId ?? NOTHING;
export const channelName = ({ channels }: Known, n: number): string => nth(channels, n)?.name ?? 'nothing';
export const folderId = ({ folders }: Known, n: number): number => nth(folders, n)?.folderId ?? NOTHING;
export const groupId = ({ groups }: Known, n: number): number => nth(groups, n)?.groupId ?? NOTHING;
export const userId = ({ people }: Known, n: number): number => (nth(people, n) as Person).userId;

/** People by their ids, as a request names others; without any, it is about the caller. */
export const principals = (known: Known, list: readonly number[]) =>
  list.length === 0 ? {} : { principals: list.map((n) => userId(known, n)) };

/** A value of a group setting, before it is known what there is. */
const setting = fc.oneof(
  fc.record({ role: fc.constantFrom('nobody', 'everyone', 'members', 'moderators', 'administrators') }),
  fc.record({ person: some }),
  fc.record({ group: some }),
  fc.record({ person: some, group: some }),
);
type Setting = Asked<typeof setting>;
type Settings = Readonly<Record<string, Setting>>;

function valueOfSetting(given: Setting, known: Known): GroupSetting {
  if ('role' in given) return systemGroups[given.role as keyof typeof systemGroups].id;
  const person = 'person' in given ? userId(known, given.person) : undefined;
  if (!('group' in given)) return onlyUser(person ?? NOTHING);
  const group = groupId(known, given.group);
  return person === undefined ? group : { direct_members: [person], direct_subgroups: [group] };
}

/** Some of these settings. */
export const settings = (names: readonly string[]): fc.Arbitrary<Settings> =>
  fc.dictionary(fc.constantFrom(...names), setting, { maxKeys: 2 });

const mapped = (given: Settings, wire: (value: Setting) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, wire(value)]));

/** Settings of something new, and changes of settings, as requests say them. */
export const newSettings = (given: Settings, known: Known) =>
  mapped(given, (value) => valueOfSetting(value, known));
export const changedSettings = (given: Settings, known: Known) =>
  mapped(given, (value) => ({ new: valueOfSetting(value, known) }));
