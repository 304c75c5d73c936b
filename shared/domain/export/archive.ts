import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack } from 'tar-stream';

const compressed = promisify(gzip);

/** What closes a tar archive: two empty blocks. */
const CLOSING = 1_024;

/** A file on its way into an archive. */
export interface ArchiveFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The last file of an archive: without it, something is missing. */
export interface Manifest {
  readonly format: 'parlance-export';
  /** Grows with each change of the format that readers must know of. */
  readonly version: 1;
  readonly export_id: number;
  readonly export_type: string;
  /** Seconds since 1970. */
  readonly export_time: number;
  /** Records, by folder. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * A file of a tar archive as a gzip member of its own. Members one after another are one gzip stream, so an archive
 * can be put together by runs that know nothing of each other.
 *
 * @param time when the file was changed last, ms
 */
export async function memberOf({ name, bytes }: ArchiveFile, time: number): Promise<Buffer> {
  const tar = pack();
  tar.entry(
    { name, mode: 0o600, mtime: new Date(time) },
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk);
  return compressed(Buffer.concat(chunks).subarray(0, -CLOSING));
}

/** What stands at the end of an archive. */
export const closingMember = (): Promise<Buffer> => compressed(Buffer.alloc(CLOSING));
