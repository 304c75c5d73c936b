import type { Environment } from '../../environment.ts';
import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { contentTypeOf } from './content-type.ts';
import { attachmentEvent } from './event.ts';
import type { StoredFile } from './file.ts';
import { newPath, storedName, UPLOADS_PATH } from './path.ts';

const MIB = 1024 * 1024;

/**
 * Largest file (MiB). A request reaches its function as base64 inside of JSON. Lambda takes 6 MB of it: that is a file of
 * a little more than 4 MiB (docs/LIMITS.md).
 */
export const MAX_FILE_MIB = 4;

/** How many MiB the files of an organization may take; undefined if there is no limit. */
export const uploadQuotaMib = ({ UPLOAD_QUOTA_MIB }: Environment): number | undefined =>
  UPLOAD_QUOTA_MIB === undefined ? undefined : Number(UPLOAD_QUOTA_MIB);

/** A file as it was sent. */
interface SentFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly contentType: string;
}

/**
 * Decides whether the organization takes the file: first its size, then the quota (companion facts 1.1).
 *
 * @param used bytes in use, as `loadUploadSpace` read them
 * @throws Refusal `BAD_REQUEST`, `REALM_UPLOAD_QUOTA`
 */
export function checkUpload({ bytes }: SentFile, used: number, quotaMib: number | undefined): void {
  if (bytes.byteLength > MAX_FILE_MIB * MIB) {
    throw badRequest(`A file has at most ${MAX_FILE_MIB} MiB.`);
  }
  if (quotaMib !== undefined && used + bytes.byteLength > quotaMib * MIB) throw refusal('uploadQuotaReached');
}

/** A new file without its id. `now` is in milliseconds. */
export function newFile(
  randomBytes: (count: number) => Uint8Array,
  ownerId: number,
  { bytes, name: given, contentType }: SentFile,
  now: number,
): Omit<StoredFile, 'attachmentId'> {
  const name = storedName(given);
  return {
    ...newPath(randomBytes, name),
    ownerId,
    name,
    size: bytes.byteLength,
    contentType: contentTypeOf(bytes, contentType, name),
    created: now,
    unusedSince: now,
  };
}

/** The reply to an upload (companion facts 1.1). */
interface UploadReply {
  readonly url: string;
  readonly uri: string;
  readonly filename: string;
}

/** Adds a file, whose bytes are stored. Fails if another upload took the space meanwhile. */
export function doAddFile(
  realm: string,
  file: StoredFile,
  quotaMib: number | undefined,
): Change<UploadReply> {
  const { attachmentId, ownerId: userId, token, pathId, name, size } = file;
  const url = `${UPLOADS_PATH}${pathId}`;
  const space: Write = {
    update: key('uploadSpace', { realm }),
    change: { add: { used: size } },
    ...(quotaMib !== undefined && { when: { below: { used: quotaMib * MIB - size + 1 } } }),
  };
  return {
    writes: [
      { put: key('file', { realm, token }), item: { ...file }, when: { absent: true } },
      {
        put: key('attachment', { realm, userId, attachmentId }),
        item: { attachmentId, token, pathId, size },
      },
      space,
    ],
    entries: [attachmentEvent(userId, 'add', file)],
    result: { url, uri: url, filename: name },
  };
}
