import { describe, expect, it } from 'vitest';
import { designBudgets } from '../support/design-budgets.ts';
import { type BudgetRow, budgetRows, budgetTable } from './budgets.ts';
import type { CountRow } from './counts.ts';
import type { GrowthRow } from './growth.ts';
import type { Measured } from './measured.ts';
import { readRecorded } from './recorded.ts';

const nothing: Measured = {
  ...{ counts: [], growth: [], load: [], turns: [], delivery: [], held: [], functions: [], plugins: [] },
  ...{ processor: [], sizes: [], memory: [], start: [], stack: [], export: [], search: [] },
};

const rowsOf = (measured: Partial<Measured>): readonly BudgetRow[] => budgetRows({ ...nothing, ...measured });

const counted = (operation: string, cold: number, warm = cold, writeUnits = 0): CountRow => {
  const count = { requests: 1, readUnits: 1, writeUnits, others: {}, toldBytes: 1, replyBytes: 1 };
  const [endpoint = ''] = operation.split(':');
  return {
    operation,
    endpoint,
    cold: { ...count, roundTrips: cold },
    warm: { ...count, roundTrips: warm },
  };
};

/** The rows about round trips, with shortened texts. */
const trips = (...counts: readonly CountRow[]) =>
  rowsOf({ counts }).map(({ what, measured, verdict, note }) => [
    what.replace('round trips, ', ''),
    measured,
    verdict,
    ...(note === undefined ? [] : [note]),
  ]);

describe('the table of budgets (DESIGN 7)', () => {
  it('has no row for a figure that was not measured', () => {
    expect(rowsOf({})).toEqual([]);
    const start = [{ start: 'nothing changed', p50: 1_400, max: 1_500 }] as const;
    expect(rowsOf({ start }).map(({ what }) => what)).toEqual(['s, npm start, nothing changed, p50']);
    const turns = [{ operation: 'emoji.list', p50: 5, p99: 9, limit: 4 }] as const;
    expect(rowsOf({ turns })).toMatchObject([{ budget: 4, measured: 5, verdict: 'OVER' }]);
  });

  it('marks figures over the budget, but not one exactly at it', () => {
    const { resources } = designBudgets;
    const rows = rowsOf({
      stack: [
        { settings: 'none', resources },
        { settings: 'all', resources: resources + 1 },
      ],
    });
    expect(rows.map(({ verdict }) => verdict)).toEqual(['within', 'OVER']);
    const { title, table } = budgetTable(rows);
    expect(title).toContain('2 measured, 1 over');
    expect(table.split('\n').at(-1)).toMatch(/^CloudFormation resources, all .* 485 +486 +OVER$/);
  });

  it('compares a send with budgets of its own, cold and warm', () => {
    expect(
      trips(counted('messages.send:channel', 3, 2, 7), counted('messages.send:direct', 3, 3, 6)),
    ).toEqual([
      ['sending a message, cold', 3, 'within'],
      ['sending a message, warm', 3, 'OVER', 'messages.send:direct 3'],
    ]);
  });

  it('separates reads from writes, and names the worst operation of each endpoint over the budget', () => {
    const counts = [
      counted('users.list', 3, 2),
      counted('users.list:two of them', 4, 2),
      counted('users.create', 3, 3, 20),
      // A GET that changes something.
      counted('calls.complete', 4, 4, 7),
      counted('events.get:held to the end', 163, 162, 1),
    ];
    expect(trips(...counts)).toEqual([
      ['other writes, cold', 4, 'OVER', 'calls.complete 4'],
      ['other writes, warm', 4, 'OVER', 'calls.complete 4'],
      ['other reads, cold', 4, 'OVER', 'users.list:two of them 4'],
      ['other reads, warm', 2, 'within'],
    ]);
  });

  it('compares a message to many subscribers with one to few', () => {
    const among = (size: number, units: number): GrowthRow => ({
      ...{ of: 'subscribers', size },
      ...counted('messages.send:channel', 3, 2, units),
    });
    const verdicts = rowsOf({ growth: [among(10, 7), among(1_000, 7), among(10_000, 8)] }).map((row) => [
      row.measured,
      row.verdict,
    ]);
    expect(verdicts).toEqual([
      [7, 'within'],
      [8, 'within'],
      [1, 'OVER'],
    ]);
  });

  it('checks only the functions behind the gateway, and counts an import as slow if both its times are', () => {
    const times = { importMs: 1, cpuMs: 1, heapMb: 1, peakMb: 1 };
    const functions = [
      {
        id: 'users.list',
        bytes: 200_000,
        ratio: 1.5,
        cpuRatio: 0.8,
        budget: designBudgets.bundleBytes,
        ...times,
      },
      {
        id: 'messages.send',
        bytes: 450_000,
        ratio: 1.1,
        cpuRatio: 1,
        budget: designBudgets.markdownBundleBytes,
        ...times,
      },
      { id: 'export', bytes: 900_000, ratio: 3, cpuRatio: 3, budget: designBudgets.bundleBytes, ...times },
    ];
    expect(rowsOf({ functions }).map(({ measured, verdict, note }) => [measured, verdict, note])).toEqual([
      [200_000, 'within', 'users.list'],
      [450_000, 'OVER', 'messages.send'],
      [1, 'within', 'messages.send'],
    ]);
  });

  it('checks the wake-up with one client, if there was one, by the longer of its times', () => {
    const [afterReply, none] = [
      { p50: 90, p99: 200, max: 200 },
      { p50: Number.NaN, p99: Number.NaN, max: Number.NaN },
    ];
    const alone = { waiting: 1, p50: 120, p99: 310, max: 310, afterReply, deliveries: 40, failed: 0 };
    const crowd = { ...alone, waiting: 50, p50: 2_000, max: 3_000 };
    expect(rowsOf({ delivery: [alone, crowd] }).map((row) => [row.measured, row.verdict])).toEqual([
      [120, 'within'],
      [310, 'OVER'],
    ]);
    const missed = { ...alone, ...none, afterReply: none, deliveries: 0 };
    expect(rowsOf({ delivery: [missed, crowd] })).toEqual([]);
  });

  it('checks the wake-up of 200 clients by its median', () => {
    const afterReply = { p50: 90, p99: 200, max: 200 };
    const row = { waiting: 200, p50: 301, p99: 900, max: 900, afterReply, deliveries: 1_200, failed: 0 };
    expect(rowsOf({ delivery: [row] }).map(({ measured, verdict }) => [measured, verdict])).toEqual([
      [301, 'OVER'],
    ]);
  });

  it('checks the load of waiting clients by the difference to the load without them', () => {
    const row = { clients: 2_000, organizations: 7, ended: {}, functions: 0, looks: 6.2, reads: 0.1 };
    const figures = (more: object) =>
      rowsOf({ held: [{ ...row, ...more }] }).map(({ measured, verdict }) => [measured, verdict]);
    const others = [
      [0, 'within'],
      [0, 'within'],
      [0.1, 'within'],
      [6.2, 'within'],
    ];
    expect(figures({ idleMb: 300, heldMb: 450 })).toEqual([[150, 'within'], ...others]);
    expect(figures({ idleMb: 300, heldMb: 451 })).toEqual([[151, 'OVER'], ...others]);
    expect(figures({})).toEqual(others);
    expect(figures({ ended: { 200: 3, 502: 1 } })[1]).toEqual([4, 'OVER']);
    expect(figures({ reads: 12 })[2]).toEqual([12, 'OVER']);
  });

  it('has a row for each recorded count', async () => {
    expect(rowsOf(await readRecorded()).map(({ what }) => what)).toEqual([
      'round trips, sending a message, cold',
      'round trips, sending a message, warm',
      'round trips, other writes, cold',
      'round trips, other writes, warm',
      'round trips, other reads, cold',
      'round trips, other reads, warm',
      'write units, a channel message that may be sent again',
      'write units, a channel message to 10',
      'write units, a channel message to 10,000',
      'write units, a channel message to 10,000, more than to 10',
    ]);
  });
});
