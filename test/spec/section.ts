/** What a rule says that others say already: whatever proves all of those proves it too. */
type Restated = readonly [says: string, ...ids: string[]];

/** The rules of one section of the specification: a name for each, and what it says in short. */
export interface Section {
  readonly section: string;
  readonly rules: Readonly<Record<string, string | Restated>>;
}
