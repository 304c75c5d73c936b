import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { FilePath } from './path.ts';

/** The bucket of uploaded files. */
export const UPLOADS = 'uploads';

/** What is known of an image that has thumbnails. */
export interface ImageFacts {
  /** Pixels, held upright. */
  readonly width: number;
  readonly height: number;
  /** Whether there is an animated thumbnail too. */
  readonly isAnimated: boolean;
}

/** An uploaded file, as stored. */
export interface StoredFile {
  /** The number of the event that added it. */
  readonly attachmentId: number;
  readonly ownerId: number;
  readonly token: string;
  /** Its path without `/user_uploads/`. */
  readonly pathId: string;
  /** As its owner called it. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** What it is served as. */
  readonly contentType: string;
  /** Only of an image that has thumbnails. */
  readonly image?: ImageFacts;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Since when (ms) no message holds it, unless `messageIds` says otherwise. */
  readonly unusedSince: number;
  /**
   * The messages that hold it. Each message lists its files too, and that list is the truth: this one may have too many
   * for a moment, never too few.
   */
  readonly messageIds?: ReadonlySet<number>;
  /** The channels in which messages held it first: read at once with the messages, which have most likely not moved. */
  readonly channelIds?: ReadonlySet<number>;
}

/** What never changes of a file, as it is stored under its owner. */
export type OwnFile = Pick<StoredFile, 'attachmentId' | 'token' | 'pathId' | 'size'>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    file: StoredFile;
    attachment: OwnFile;
  }
}

/** The key of a file's bytes in the bucket. */
export const objectKey = (realm: string, token: string): string => `${realm}/files/${token}`;

/** An attachment in replies and events (companion facts 1.6). */
export const attachmentObject = ({
  attachmentId,
  name,
  pathId,
  size,
  created,
  messageIds = new Set(),
}: StoredFile) => ({
  id: attachmentId,
  name,
  path_id: pathId,
  size,
  create_time: Math.floor(created / 1000),
  message_ids: [...messageIds].sort((a, b) => a - b),
});

/** The file at a path; undefined if there is none. One round trip. */
export async function loadFile(
  table: Table,
  realm: string,
  { token, pathId }: FilePath,
): Promise<StoredFile | undefined> {
  const file = await table.get('file', { realm, token });
  return file?.pathId === pathId ? file : undefined;
}

/** The files that a user uploaded, oldest first. Two round trips. */
export async function loadOwnFiles(table: Table, realm: string, userId: number): Promise<StoredFile[]> {
  const attachments = await table.all('attachment', { realm, userId });
  const files = await table.getMany(attachments.map(({ token }) => key('file', { realm, token })));
  return files.sort((a, b) => a.attachmentId - b.attachmentId);
}

/** How many bytes the files of the organization take. One round trip. */
export const loadUploadSpace = async (table: Table, realm: string): Promise<number> =>
  (await table.get('uploadSpace', { realm }))?.used ?? 0;
