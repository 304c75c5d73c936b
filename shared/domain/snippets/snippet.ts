import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import { codePoints } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { limits } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion } from '../../table/write.ts';

/** A text that a user saved for later, as stored (companion facts 2.2). */
export interface Snippet {
  readonly snippetId: number;
  readonly title: string;
  readonly content: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    snippet: Snippet;
  }
}

/** Code points of a title. */
const MAX_TITLE = 60;

/** Most snippets of one user (docs/LIMITS.md): `POST /register` sends all of them. */
export const MAX_SNIPPETS = 100;

/** All snippets of a user, oldest first. One round trip. */
export const loadSnippets = (table: Table, realm: string, userId: number): Promise<Snippet[]> =>
  table.all('snippet', { realm, userId });

/** A snippet of a user, or undefined if they have none with this id. One round trip. */
export const loadSnippet = async (
  table: Table,
  realm: string,
  userId: number,
  snippetId: number,
): Promise<Snippet | undefined> =>
  isId(snippetId) ? table.get('snippet', { realm, userId, snippetId }) : undefined;

/** The snippet. An unknown one and another user's are 404 alike. */
export function accessSnippet(snippet: Snippet | undefined): Snippet {
  if (snippet === undefined) throw refusal('snippetDoesNotExist');
  return snippet;
}

/** A snippet on the wire. */
export const snippetObject = ({ snippetId, title, content, created }: Snippet) => ({
  id: snippetId,
  title,
  content,
  date_created: created,
});

/** A title as it is stored. Throws `BAD_REQUEST`. */
export const checkTitle = (title: string): string => checkText('title', title, MAX_TITLE);

/** The text as it is stored. Throws `BAD_REQUEST`. */
export const checkSnippetContent = (content: string): string => checkText('content', content, limits.message);

function checkText(name: string, given: string, limit: number): string {
  const text = given.trim();
  if (text === '') throw badRequest(`'${name}' must not be empty.`);
  if (codePoints(text) > limit) throw badRequest(`'${name}' is too long (at most ${limit}).`);
  return text;
}

/** Checks that a user with so many snippets may save another one. Throws `BAD_REQUEST`. */
export function checkRoomForSnippet(snippets: readonly Snippet[]): void {
  if (snippets.length < MAX_SNIPPETS) return;
  throw badRequest(`You have ${MAX_SNIPPETS} saved snippets: delete one of them first.`);
}

const snippetEvent = (userId: number, op: string, fields: object): EventEntry =>
  eventFor({ users: [userId] }, { type: 'saved_snippets', op, ...fields });

/** Saves a snippet. Its id is the number of its event. `now` is in milliseconds. */
export function doSaveSnippet(
  realm: string,
  userId: number,
  { title, content }: Pick<Snippet, 'title' | 'content'>,
  [snippetId = 0]: readonly number[],
  now: number,
): Change<{ saved_snippet_id: number }> {
  const snippet: Snippet = { snippetId, title, content, created: Math.floor(now / 1000), version: 1 };
  return {
    writes: [
      { put: key('snippet', { realm, userId, snippetId }), item: { ...snippet }, when: { absent: true } },
    ],
    entries: [snippetEvent(userId, 'add', { saved_snippet: snippetObject(snippet) })],
    result: { saved_snippet_id: snippetId },
  };
}

/** Changes a snippet. Fails if it has changed since it was read. */
export function doChangeSnippet(
  realm: string,
  userId: number,
  snippet: Snippet,
  change: Partial<Pick<Snippet, 'title' | 'content'>>,
): Change<void> {
  const { snippetId, version } = snippet;
  const set = { ...change, version: version + 1 };
  return {
    writes: [
      {
        update: key('snippet', { realm, userId, snippetId }),
        change: { set },
        when: hasVersion(version),
      },
    ],
    entries: [snippetEvent(userId, 'update', { saved_snippet: snippetObject({ ...snippet, ...set }) })],
    result: undefined,
  };
}

/** Deletes a snippet. */
export const doDeleteSnippet = (
  realm: string,
  userId: number,
  { snippetId }: Pick<Snippet, 'snippetId'>,
): Change<void> => ({
  writes: [{ delete: key('snippet', { realm, userId, snippetId }), when: { absent: false } }],
  entries: [snippetEvent(userId, 'remove', { saved_snippet_id: snippetId })],
  result: undefined,
});
