import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GroupGraph, noGroups } from '../../shared/kernel/lookup.ts';
import {
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  isFullMember,
  makesCycle,
  type Role,
  roles,
  type Standing,
  standingOf,
  systemGroups,
} from '../../shared/model/permission/permission.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-05-01T12:00:00Z');
const WAITING_DAYS = 10;

interface Person {
  readonly userId: number;
  readonly role: Role;
  readonly dateJoined: string;
}

const named = [201, 202, 203, 204, 205, 206];
const system = Object.values(systemGroups).map(({ id }) => id);
const allGroups = [...system, ...named];

const anyPerson: fc.Arbitrary<Person> = fc.record({
  userId: fc.integer({ min: 1, max: 4 }),
  role: fc.constantFrom(...Object.values(roles)),
  dateJoined: fc
    .integer({ min: 0, max: 2 * WAITING_DAYS })
    .map((days) => new Date(NOW - days * DAY).toISOString()),
});

/** A graph without cycles: a group contains only groups of the roles, and named ones of a smaller id. */
const anyGraph: fc.Arbitrary<GroupGraph> = fc
  .tuple(...named.map((group) => fc.subarray(allGroups.filter((child) => child < group))))
  .map((lists) => ({
    version: 1,
    edges: Object.fromEntries(named.map((group, i) => [group, lists[i] ?? []])),
  }));

const anySetting: fc.Arbitrary<GroupSetting> = fc.oneof(
  fc.constantFrom(...allGroups),
  fc.record({
    direct_members: fc.subarray([1, 2, 3, 4]),
    direct_subgroups: fc.subarray(allGroups),
  }),
);

/* The model: what the rules say, without a thought of speed. */

const containedIn = (group: number, graph: GroupGraph): readonly number[] => {
  const { nobody, owners, administrators, moderators, fullMembers, members, everyone, internet } =
    systemGroups;
  const nested: readonly number[] = [
    internet,
    everyone,
    members,
    fullMembers,
    moderators,
    administrators,
    owners,
  ].map(({ id }) => id);
  if (group === nobody.id) return [];
  const place = nested.indexOf(group);
  return place >= 0 ? nested.slice(place + 1, place + 2) : (graph.edges[String(group)] ?? []);
};

function isDirectlyIn(person: Person, direct: readonly number[], group: number): boolean {
  const isFull = NOW - Date.parse(person.dateJoined) >= WAITING_DAYS * DAY;
  switch (group) {
    case systemGroups.owners.id:
      return person.role === 100;
    case systemGroups.administrators.id:
      return person.role === 200;
    case systemGroups.moderators.id:
      return person.role === 300;
    case systemGroups.fullMembers.id:
      return person.role === 400 && isFull;
    case systemGroups.members.id:
      return person.role === 400;
    case systemGroups.everyone.id:
      return person.role === 600;
    default:
      return direct.includes(group);
  }
}

const isIn = (person: Person, direct: readonly number[], group: number, graph: GroupGraph): boolean =>
  isDirectlyIn(person, direct, group) ||
  containedIn(group, graph).some((child) => isIn(person, direct, child, graph));

const mayByModel = (
  person: Person,
  direct: readonly number[],
  setting: GroupSetting,
  graph: GroupGraph,
): boolean =>
  typeof setting === 'number'
    ? isIn(person, direct, setting, graph)
    : setting.direct_members.includes(person.userId) ||
      setting.direct_subgroups.some((group) => isIn(person, direct, group, graph));

const standing = (person: Person, direct: readonly number[], graph: GroupGraph): Standing =>
  standingOf(person, direct, graph, WAITING_DAYS, NOW);

describe('the permission engine', () => {
  it('agrees with a plain implementation of the rules, for users in groups at any depth', () => {
    fc.assert(
      fc.property(anyPerson, fc.subarray(named), anyGraph, anySetting, (person, direct, graph, setting) => {
        const expected = mayByModel(person, direct, setting, graph);
        const who = standing(person, direct, graph);
        expect(holds(who, setting)).toBe(expected);
        expect(holdsUnlessGuest(who, setting)).toBe(expected && person.role !== roles.guest);
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds exactly the groups that contain a user', () => {
    fc.assert(
      fc.property(anyPerson, fc.subarray(named), anyGraph, (person, direct, graph) => {
        const expected = allGroups.filter((group) => isIn(person, direct, group, graph));
        expect([...standing(person, direct, graph).groups].sort((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('follows a chain of any length', () => {
    const length = 2_000;
    const chain = Array.from({ length }, (_, i) => [String(1_000 + i), [i === 0 ? 201 : 999 + i]] as const);
    const graph: GroupGraph = { version: 1, edges: Object.fromEntries(chain) };
    const member = { userId: 1, role: roles.guest, dateJoined: new Date(NOW).toISOString() };
    expect(holds(standing(member, [201], graph), 1_000 + length - 1)).toBe(true);
    expect(holds(standing(member, [], graph), 1_000 + length - 1)).toBe(false);
    expect(makesCycle(graph, 201, [1_000 + length - 1])).toBe(true);
  });

  it('terminates even on a graph with a cycle, which no writer makes', () => {
    const graph: GroupGraph = { version: 1, edges: { 201: [202], 202: [203], 203: [201] } };
    const member = { userId: 1, role: roles.member, dateJoined: new Date(NOW).toISOString() };
    expect(holds(standing(member, [203], graph), 202)).toBe(true);
    expect(makesCycle(graph, 204, [201])).toBe(false);
  });

  it('never counts a user as a member of nobody, and lets a named group contain role groups', () => {
    const graph: GroupGraph = { version: 1, edges: { 201: [systemGroups.moderators.id] } };
    for (const role of Object.values(roles)) {
      const who = standing({ userId: 1, role, dateJoined: new Date(0).toISOString() }, [], graph);
      expect(holds(who, systemGroups.nobody.id)).toBe(false);
      expect(holds(who, systemGroups.internet.id)).toBe(true);
      expect(holds(who, 201), String(role)).toBe(role <= roles.moderator);
    }
  });

  it('makes a member a full member exactly at the end of the waiting period', () => {
    const joined = { dateJoined: new Date(NOW).toISOString() };
    expect(isFullMember(joined, WAITING_DAYS, NOW + WAITING_DAYS * DAY - 1)).toBe(false);
    expect(isFullMember(joined, WAITING_DAYS, NOW + WAITING_DAYS * DAY)).toBe(true);
    expect(isFullMember(joined, 0, NOW)).toBe(true);
  });
});

describe('the guard against cycles', () => {
  const anyEdge = fc.record({
    parent: fc.constantFrom(...named),
    children: fc.subarray(allGroups, { minLength: 1 }),
  });

  /** Whether a group can be reached from itself, by trying all ways. */
  const hasCycle = (graph: GroupGraph): boolean => {
    const reaches = (from: number, to: number, way: readonly number[]): boolean =>
      containedIn(from, graph).some(
        (child) => child === to || (!way.includes(child) && reaches(child, to, [...way, child])),
      );
    return named.some((group) => reaches(group, group, [group]));
  };

  it('refuses exactly the edges that would close a cycle', () => {
    fc.assert(
      fc.property(fc.array(anyEdge, { maxLength: 12 }), (wishes) => {
        let graph: GroupGraph = noGroups;
        for (const { parent, children } of wishes) {
          const before = graph.edges[String(parent)] ?? [];
          const wished = {
            version: 1,
            edges: { ...graph.edges, [parent]: [...new Set([...before, ...children])] },
          };
          const refused = makesCycle(graph, parent, children);
          expect(refused).toBe(hasCycle(wished));
          if (!refused) graph = wished;
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('lets no group contain itself', () => {
    expect(makesCycle(noGroups, 201, [201])).toBe(true);
    expect(makesCycle(noGroups, 201, [202])).toBe(false);
  });
});
