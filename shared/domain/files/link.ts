import type { Outside } from '../../kernel/outside.ts';
import type { Standing } from '../../model/permission/permission.ts';
import type { Table } from '../../table/table.ts';
import { Reader } from '../reader/reader.ts';
import { type HeldFile, loadHeldFile, mayFetchFile } from './access.ts';
import type { StoredFile } from './file.ts';
import { parsePathId, UPLOADS_PATH } from './path.ts';

/** Most files that one message can hold: each is a write of its transaction. */
export const MAX_FILES = 30;

/** What a link to a file looks like in a text, up to the token. */
const LINKED = /user_uploads\/\d+\/[0-9a-f]{1,2}\/([\w-]{24})\//g;

/** The tokens of the files that a text may link to. */
export const linkedTokens = (content: string): string[] =>
  [...new Set([...content.matchAll(LINKED)].map(([, token = '']) => token))].slice(0, MAX_FILES);

/** Who writes a text with links, and where. */
export interface Linker {
  readonly userId: number;
  /** The base URL that they used: links to it are links to this organization. */
  readonly baseUrl: string;
}

/** The files that a text may link to, with what decides whether its author may get them. */
export interface LinkedFiles {
  readonly reader: Reader;
  readonly baseUrl: string;
  readonly found: readonly HeldFile[];
}

/** Reads them. No round trip for a text without such links, two for files of others. */
export async function loadLinkedFiles(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { userId, baseUrl }: Linker,
  tokens: readonly string[],
): Promise<LinkedFiles> {
  const reader = new Reader(outside, realm, userId);
  const found = await Promise.all(tokens.map((token) => loadLinkedFile(outside.table, reader, token)));
  return { reader, baseUrl, found: found.filter((file) => file !== undefined) };
}

async function loadLinkedFile(table: Table, reader: Reader, token: string): Promise<HeldFile | undefined> {
  const file = await table.get('file', { realm: reader.realm, token });
  return file && loadHeldFile(reader, file);
}

/** The files that the author may get. Others are left out, as are links to nothing. */
export async function fetchableFiles(who: Standing, { reader, found }: LinkedFiles): Promise<StoredFile[]> {
  const may = await Promise.all(found.map((held) => mayFetchFile(reader, who, held)));
  return found.filter((_, i) => may[i]).map(({ file }) => file);
}

/** Those of the files to which a rendered text really links, by links within the organization (companion facts 1.3). */
export function filesIn(
  links: readonly string[],
  { baseUrl }: Pick<LinkedFiles, 'baseUrl'>,
  files: readonly StoredFile[],
): StoredFile[] {
  const paths = new Set(links.map((link) => pathIdOf(link, baseUrl)));
  return files.filter(({ pathId }) => paths.has(pathId));
}

/** The path of the file to which a link within the organization leads; undefined for other links. */
export function pathIdOf(link: string, baseUrl: string): string | undefined {
  const path = link.startsWith(`${baseUrl}/`) ? link.slice(baseUrl.length) : link;
  if (!path.startsWith(UPLOADS_PATH)) return undefined;
  try {
    return parsePathId(decodeURIComponent(path.slice(UPLOADS_PATH.length)))?.pathId;
  } catch {
    return undefined;
  }
}
