import { firstCodePoints } from '../../kernel/text.ts';

/** How the paths of all uploaded files begin. */
export const UPLOADS_PATH = '/user_uploads/';

/**
 * Stands for the organization in paths, where phone clients expect a number. The host says which organization it is.
 */
const REALM_NUMBER = '1';

/** Most code points of a name: many file systems take no longer ones. */
const MAX_NAME = 255;

/** What a file is called whose own name cannot be a part of a path. */
const NAMELESS = 'uploaded-file';

/** Random bytes of a token. Paths cannot be guessed, though that protects nothing by itself. */
const TOKEN_BYTES = 18;

/** The part of a link to a file that identifies it (companion facts 1.1). */
const PATH_ID = new RegExp(`^${REALM_NUMBER}/[0-9a-f]{1,2}/([\\w-]{24})/[^/?#\\\\]+$`);

/** The path of a file without `/user_uploads/`, and the token in it, by which the file is stored. */
export interface FilePath {
  readonly pathId: string;
  readonly token: string;
}

/**
 * The name of a file as it is stored: without folders, and without characters that cannot be seen or that change the
 * direction of the text, which make one name look like another. A long one is cut, but keeps its extension.
 */
export function storedName(given: string): string {
  const name = decoded(given)
    .toWellFormed()
    .split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  if (!name) return NAMELESS;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? firstCodePoints(name.slice(dot), 20) : '';
  const whole = firstCodePoints(name, MAX_NAME + 1);
  return whole === firstCodePoints(name, MAX_NAME)
    ? name
    : `${firstCodePoints(name, MAX_NAME - [...extension].length)}${extension}`;
}

/** Clients may send a name as it would be in an address (companion facts 1.1). */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The name as the end of a path: letters, digits, `_`, `-` and `.` only (companion facts 1.1). */
export function pathName(name: string): string {
  const clean = name
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{N}\p{M}_\s.-]/gu, '')
    .trim()
    .replaceAll(/[-\s]+/g, '-');
  return clean === '' || clean === '.' || clean === '..' ? NAMELESS : firstCodePoints(clean, MAX_NAME);
}

/** A new path for a file with this name. */
export function newPath(randomBytes: (count: number) => Uint8Array, name: string): FilePath {
  const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
  const shard = Buffer.from(randomBytes(1)).toString('hex');
  return { pathId: `${REALM_NUMBER}/${shard}/${token}/${pathName(name)}`, token };
}

/** Reads a path without `/user_uploads/`; undefined if it cannot be one of ours. */
export function parsePathId(pathId: string): FilePath | undefined {
  const token = PATH_ID.exec(pathId)?.[1];
  return token === undefined ? undefined : { pathId, token };
}
