/** What an audit found wrong, one sentence for each thing; empty where the books are right. */
export class Ledger {
  readonly faults: string[] = [];

  /** Notes a fault unless both sides are the same number, text or set. */
  same(what: string, stored: unknown, counted: unknown): void {
    const [left, right] = [plain(stored), plain(counted)];
    if (left !== right) this.faults.push(`${what}: stored ${left}, but there is ${right}`);
  }

  /** Notes a fault where two have what only one may have. */
  unique(what: string, names: readonly string[]): void {
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    if (twice.length > 0) this.faults.push(`${what} twice: ${[...new Set(twice)].join(', ')}`);
  }
}

/** Sets and lists of ids compare by what is in them. */
function plain(value: unknown): string {
  if (value instanceof Set) return plain([...value]);
  if (Array.isArray(value)) return JSON.stringify([...value].sort((a, b) => (a < b ? -1 : 1)));
  return JSON.stringify(value) ?? 'nothing';
}
