import { describe, expect, it } from 'vitest';
import { failingRules, ledgerOf, readLedger, rulesNamedIn, summary } from './ledger.ts';
import { rules } from './rules.ts';
import { titlesIn } from './titles.ts';

describe('the rules of the specification', () => {
  it('each have a test that names them, and no test names an unknown rule', async () => {
    const { entries, unknown } = await readLedger();
    const untested = entries.filter(({ proofs }) => proofs.length === 0);
    expect(untested.map(({ id, says }) => `${id}: ${says}`)).toEqual([]);
    expect(unknown).toEqual([]);
  });

  it('have different names, which can be found in titles', () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.flatMap((id) => rulesNamedIn(`says it (${id}, wire facts 4.5)`))).toEqual(ids);
  });
});

describe('the ledger', () => {
  it('reads titles in any syntax, and no other text', async () => {
    const source = `
      // it('a comment (4.1/a)')
      const other = '4.1/b';
      describe('group (4.1/c)', () => {
        it.each<[number]>([[1]])('each %s (4.1/d, 4.1/e)', () => {});
        test(\`template \${other} (4.1/f)\`, () => {});
        it.skip('skipped (4.1/g)', () => {});
        it.todo('to do (4.1/h)');
        describe.each([1])('%s (4.1/i)', () => it('inner', async () => check('4.1/j')));
      });`;
    const named = (await titlesIn(source)).flatMap(rulesNamedIn);
    expect(named.sort()).toEqual(['4.1/c', '4.1/d', '4.1/e', '4.1/f', '4.1/i']);
  });

  it('takes no other text for the name of a rule', () => {
    for (const title of ['GET /api/v1/x', 'half of 1/a', '14.4/x', '4.2 and 3', 'a/4.2/b', '4.2/']) {
      expect(rulesNamedIn(title)).toEqual([]);
    }
  });

  it('counts tested and failing rules, also if a rule restates others', () => {
    const rule = (id: string, ...restates: string[]) => ({ id, says: '', restates });
    const some = [
      rule('4.1/a'),
      rule('4.1/b'),
      rule('4.1/untested'),
      rule('7/a', '4.1/a', '4.1/b'),
      rule('7/b', '4.1/b'),
      rule('7/half', '4.1/b', '4.1/untested'),
      rule('9/a', '7/a'),
    ];
    const titles = ['one (4.1/a)', 'two (4.1/b)', 'three (4.1/c)'];
    const ledger = ledgerOf(
      [...some, rule('9/b', '8/missing')],
      titles.map((title) => ({ file: 'x.test.ts', title })),
    );
    expect(ledger.entries.filter(({ proofs }) => proofs.length > 0).map(({ id }) => id)).toEqual([
      ...['4.1/a', '4.1/b'],
      ...['7/a', '7/b', '9/a'],
    ]);
    expect(ledger.unknown).toEqual(['4.1/c in x.test.ts: three (4.1/c)', '8/missing in 9/b']);
    const assertionResults = [
      { fullName: 'all one (4.1/a)', status: 'failed' },
      { fullName: 'all two (4.1/b)', status: 'passed' },
    ];
    const failing = failingRules(some, { testResults: [{ assertionResults }] });
    expect([...failing]).toEqual(['4.1/a', '7/a', '9/a']);
    expect(summary(ledger, failing)).toBe('specification: 8 rules, 5 tested, 3 failing');
  });
});
