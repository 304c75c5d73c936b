import { badRequest, refusal } from '../../kernel/errors.ts';
import { checkPrintable } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import { parseUrlTemplate } from '../../markdown/url-template.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone } from '../../table/write.ts';

/** A page of the web where code can be tried out (companion facts 4.2). */
interface Playground {
  /** The log number of its creation. */
  readonly id: number;
  readonly name: string;
  readonly language: string;
  readonly urlTemplate: string;
}

/** All playgrounds in order of creation. One item, since each event has all of them. */
interface StoredPlaygrounds {
  /** Incremented by each change. */
  readonly version: number;
  readonly list: readonly Playground[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    playgrounds: StoredPlaygrounds;
  }
}

const none: StoredPlaygrounds = { version: 0, list: [] };

/** One round trip. */
export const loadPlaygrounds = async (table: Table, realm: string): Promise<StoredPlaygrounds> =>
  (await table.get('playgrounds', { realm })) ?? none;

/** Playgrounds as clients see them. */
export const playgroundObjects = (list: readonly Playground[]) =>
  list.map(({ id, name, language, urlTemplate }) => ({
    id,
    name,
    pygments_language: language,
    url_template: urlTemplate,
  }));

/** Most playgrounds of an organization, and most bytes of all together. */
const MAX_PLAYGROUNDS = 100;
const MAX_BYTES = 50_000;

/** At most 40 characters of those that names of languages have (companion facts 4.2). */
const LANGUAGE = /^[A-Za-z0-9 _+.,/#-]{1,40}$/;

/** Returns the playground with this id, or refuses. */
export function accessPlayground(id: number, { list }: StoredPlaygrounds): Playground {
  const playground = list.find((each) => each.id === id);
  if (playground === undefined) throw badRequest(`There is no playground with the ID ${id}.`);
  return playground;
}

const invalid = (field: 'name' | 'pygments_language' | 'url_template' | '__all__', text: string) =>
  refusal('invalidFields', { errors: { [field]: [text] } });

/** Checks a new playground (companion facts 4.2). */
export function checkNewPlayground(
  asked: { readonly name: string; readonly pygments_language: string; readonly url_template: string },
  { list }: StoredPlaygrounds,
): Omit<Playground, 'id'> {
  const name = asked.name.trim();
  const language = asked.pygments_language.trim();
  const urlTemplate = asked.url_template.trim();
  if (name === '') throw invalid('name', 'The name of a playground must not be empty.');
  checkPrintable('The name of the playground', name);
  if (!LANGUAGE.test(language)) {
    throw invalid(
      'pygments_language',
      'A language has 1 to 40 letters, digits, spaces and characters of _+-./#',
    );
  }
  const names = parseUrlTemplate(urlTemplate)?.names;
  if (names?.size !== 1 || !names.has('code')) {
    throw invalid('url_template', "The template of the address (RFC 6570) needs the one variable 'code'.");
  }
  if (list.some((each) => each.name === name && each.language === language)) {
    throw invalid('__all__', 'There is already a playground with this name for this language.');
  }
  const playground = { name, language, urlTemplate };
  checkRoom([...list, { id: Number.MAX_SAFE_INTEGER, ...playground }]);
  return playground;
}

function checkRoom(list: readonly Playground[]): void {
  if (list.length > MAX_PLAYGROUNDS) {
    throw badRequest(`An organization has at most ${MAX_PLAYGROUNDS} playgrounds.`);
  }
  if (Buffer.byteLength(JSON.stringify(playgroundObjects(list))) > MAX_BYTES) {
    throw badRequest('The playgrounds of this organization take up all the space that there is for them.');
  }
}

/** Replaces the playgrounds, if they are unchanged. */
const doChange = <T>(
  realm: string,
  { version }: StoredPlaygrounds,
  list: readonly Playground[],
  result: T,
): Change<T> => ({
  writes: [
    {
      put: key('playgrounds', { realm }),
      item: { version: version + 1, list },
      when: hasVersionOrNone(version),
      lastWriterWins: true,
    },
  ],
  entries: [eventForEveryone({ type: 'realm_playgrounds', realm_playgrounds: playgroundObjects(list) })],
  result,
});

/** Adds a playground. */
export const doCreatePlayground = (
  realm: string,
  stored: StoredPlaygrounds,
  playground: Playground,
): Change<{ readonly id: number }> =>
  doChange(realm, stored, [...stored.list, playground], { id: playground.id });

/** Deletes a playground. */
export const doDeletePlayground = (
  realm: string,
  stored: StoredPlaygrounds,
  playground: Playground,
): Change<Record<string, never>> =>
  doChange(
    realm,
    stored,
    stored.list.filter((each) => each !== playground),
    {},
  );
