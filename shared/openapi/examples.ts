import examples from './examples.json' with { type: 'json' };

/** A request to an endpoint and what came back, as a test has done it (`test/openapi/examples.test.ts`). */
export interface Example {
  /** The parameters by name, decoded. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The whole reply; absent where it is no JSON. */
  readonly reply?: unknown;
}

/** The examples, by the id of their endpoint. */
export const exampleOf = (id: string): Example | undefined =>
  (examples as Readonly<Record<string, Example>>)[id];
