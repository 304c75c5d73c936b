import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { key } from '../../table/keys.ts';
import type { StoredFile } from './file.ts';
import { UPLOADS_PATH } from './path.ts';

/** A temporary address of a file. */
interface FileLink {
  readonly token: string;
  /** The end of the address. */
  readonly filename: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** When DynamoDB may delete it, in seconds since 1970. */
  readonly expires: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    fileLink: FileLink;
  }
}

/** How long an address is good, ms (companion facts 1.5). */
const LIFETIME_MS = 60_000;

const linkKey = (realm: string, secret: string) => key('fileLink', { realm, digest: digestOf(secret) });

/**
 * Makes an address at which anyone gets the file for a minute, as viewers of other programs need it that have no
 * credentials. Only the digest of the secret in it is stored. One round trip.
 */
export async function newTemporaryLink(
  { table, now, randomBytes }: Pick<Outside, 'table' | 'now' | 'randomBytes'>,
  realm: string,
  { token, pathId }: StoredFile,
): Promise<string> {
  const secret = Buffer.from(randomBytes(32)).toString('hex').toUpperCase();
  const filename = pathId.slice(pathId.lastIndexOf('/') + 1);
  const until = now() + LIFETIME_MS;
  const link: FileLink = { token, filename, until, expires: Math.ceil(until / 1000) + 3600 };
  await table.put(linkKey(realm, secret), { ...link });
  return `${UPLOADS_PATH}temporary/${secret}/${filename}`;
}

/** The file at a temporary address. Refuses one that is forged, has expired, or whose file is gone. Two round trips. */
export async function accessTemporaryLink(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  secret: string,
  filename: string,
): Promise<StoredFile> {
  const link = await table.get(linkKey(realm, secret));
  const isGood = link !== undefined && link.until >= now() && link.filename === filename;
  const file = isGood ? await table.get('file', { realm, token: link.token }) : undefined;
  if (file === undefined) throw badRequest('This address is not valid any more.');
  return file;
}
