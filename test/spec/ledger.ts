import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Rule, rules } from './rules.ts';
import { titlesIn } from './titles.ts';

/** The form in which titles name rules: `(4.2/is_private)`, or several of them with commas. */
export const NAMED = /(?<![\w./])[2-9](?:\.\d{1,2})?\/[A-Za-z][\w-]*/g;

/** The rules that a title says its test proves. */
export const rulesNamedIn = (title: string): string[] => title.match(NAMED) ?? [];

/** A test that says it proves something, by its title and its file. */
interface Proof {
  readonly file: string;
  readonly title: string;
}

/** A rule with the tests that prove it. */
export interface Entry extends Rule {
  readonly proofs: readonly Proof[];
}

export interface Ledger {
  readonly entries: readonly Entry[];
  /** Titles that name an unknown rule. */
  readonly unknown: readonly string[];
}

/** Matches the titles of all tests with the rules of the specification. */
export async function readLedger(): Promise<Ledger> {
  const folder = join(import.meta.dirname, '..');
  const proofs: Proof[] = [];
  for (const file of globSync('**/*.test.ts', { cwd: folder }).sort()) {
    const source = await readFile(join(folder, file), 'utf8');
    if (rulesNamedIn(source).length === 0) continue;
    proofs.push(...(await titlesIn(source)).map((title) => ({ file, title })));
  }
  return ledgerOf(rules, proofs);
}

/** The same for these rules and tests. */
export function ledgerOf(rules: readonly Rule[], tests: readonly Proof[]): Ledger {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const named = tests.flatMap((proof) => rulesNamedIn(proof.title).map((id) => ({ id, proof })));
  const proofsOf = (id: string): Proof[] => {
    const own = named.flatMap((each) => (each.id === id ? each.proof : []));
    const restated = (byId.get(id)?.restates ?? []).map(proofsOf);
    return restated.every(({ length }) => length > 0) ? [...new Set([...own, ...restated.flat()])] : own;
  };
  const restated = rules.flatMap(({ id, restates }) => restates.map((other) => ({ id: other, where: id })));
  return {
    entries: rules.map((rule) => ({ ...rule, proofs: proofsOf(rule.id) })),
    unknown: [
      ...named.map(({ id, proof: { file, title } }) => ({ id, where: `${file}: ${title}` })),
      ...restated,
    ]
      .filter(({ id }) => !byId.has(id))
      .map(({ id, where }) => `${id} in ${where}`),
  };
}

/** The parts of vitest's JSON report that are read here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The rules with a failed test: one that names the rule, or one that names a rule that it restates. */
export function failingRules(rules: readonly Rule[], { testResults }: TestReport): ReadonlySet<string> {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failing = new Set(
    results.flatMap(({ fullName, status }) => (status === 'failed' ? rulesNamedIn(fullName) : [])),
  );
  return new Set(rules.flatMap((rule) => (reaches(rules, rule, (id) => failing.has(id)) ? rule.id : [])));
}

/** Whether a rule, or one that it restates, is such. */
const reaches = (rules: readonly Rule[], rule: Rule, isSuch: (id: string) => boolean): boolean =>
  isSuch(rule.id) || rules.some((other) => rule.restates.includes(other.id) && reaches(rules, other, isSuch));

/** One line: how many rules there are, how many of them have a test, and how many of those fail. */
export function summary({ entries }: Ledger, failing: ReadonlySet<string>): string {
  const tested = entries.filter(({ proofs }) => proofs.length > 0);
  const failed = tested.filter(({ id }) => failing.has(id));
  return `specification: ${entries.length} rules, ${tested.length} tested, ${failed.length} failing`;
}
