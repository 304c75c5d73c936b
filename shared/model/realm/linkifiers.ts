import type { Outside } from '../../kernel/outside.ts';
import { loadLinkifierEngine } from '../../markdown/linkifier.ts';
import type { LinkifierRule, Linkifiers } from '../../markdown/linkifier-engine.ts';
import type { Table } from '../../table/table.ts';
import type { Realm } from './realm.ts';

/** A pattern that becomes a link wherever it stands in messages and topics (companion facts 4.1). */
export interface Linkifier extends LinkifierRule {
  /** The log number of its creation. */
  readonly id: number;
  readonly exampleInput: string | null;
  readonly reverseTemplate: string | null;
  readonly alternativeUrlTemplates: readonly string[];
}

/** All linkifiers in order of application. One item, since each event has all, and order and patterns are checked together. */
export interface StoredLinkifiers {
  /** Incremented by each change; the organization has it too. */
  readonly version: number;
  readonly list: readonly Linkifier[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    linkifiers: StoredLinkifiers;
  }
}

const none: StoredLinkifiers = { version: 0, list: [] };

/** One round trip. */
export const loadLinkifiers = async (table: Table, realm: string): Promise<StoredLinkifiers> =>
  (await table.get('linkifiers', { realm })) ?? none;

/** Linkifiers as clients see them, in order. */
export const linkifierObjects = (list: readonly Linkifier[]) =>
  list.map((linkifier) => ({
    id: linkifier.id,
    pattern: linkifier.pattern,
    url_template: linkifier.urlTemplate,
    example_input: linkifier.exampleInput,
    reverse_template: linkifier.reverseTemplate,
    alternative_url_templates: [...linkifier.alternativeUrlTemplates],
  }));

/**
 * The linkifiers of an organization, compiled; undefined if it has none. No round trip in a container that remembers this
 * version of them, else one.
 */
export async function loadCompiledLinkifiers(
  { table, cache }: Outside,
  realmId: string,
  { linkifiers: version }: Pick<Realm, 'linkifiers'>,
): Promise<Linkifiers | undefined> {
  if (version === undefined) return undefined;
  const remembered = cache.linkifiers.get(realmId);
  if (remembered !== undefined && remembered.version >= version) return remembered.compiled;
  const stored = await loadLinkifiers(table, realmId);
  const compiled = await compiledList(stored.list);
  cache.linkifiers.set(realmId, { version: stored.version, compiled });
  return compiled;
}

async function compiledList(list: readonly Linkifier[]): Promise<Linkifiers | undefined> {
  if (list.length === 0) return undefined;
  return (await loadLinkifierEngine()).compileLinkifiers(list);
}
