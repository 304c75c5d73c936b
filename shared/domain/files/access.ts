import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { loadMessages } from '../../model/message/load.ts';
import { mayRead } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { Reader } from '../reader/reader.ts';
import { loadFile, type StoredFile } from './file.ts';
import type { FilePath } from './path.ts';

/** A file with the newest messages that may hold it; none are read for its owner. */
export interface HeldFile {
  readonly file: StoredFile;
  readonly holders: readonly MessageSlot[];
}

/** Messages of a file that are read at once. */
const AT_ONCE = 100;

/** Channels that are read beside the messages. */
const MAX_CHANNELS = 20;

/** The messages that may hold a file, newest first. */
const holderIds = ({ messageIds = new Set() }: StoredFile): number[] => [...messageIds].sort((a, b) => b - a);

/** Reads what decides for most people whether they may get a file. One round trip, none for the owner. */
export async function loadHeldFile(reader: Reader, file: StoredFile): Promise<HeldFile> {
  if (file.ownerId === reader.userId) return { file, holders: [] };
  const channelIds = [...(file.channelIds ?? [])].slice(0, MAX_CHANNELS);
  const [holders] = await Promise.all([
    loadMessages(reader.table, reader.realm, holderIds(file).slice(0, AT_ONCE)),
    ...channelIds.map((channelId) => reader.channel(channelId)),
  ]);
  return { file, holders };
}

/**
 * Whether the reader may get a file: its owner may, and everybody who may read a message that holds it now, by the rules of
 * a fetch (companion facts 1.2). Nobody else may, administrators included. Reads more messages only of a file that very
 * many hold.
 */
export async function mayFetchFile(
  reader: Reader,
  who: Standing,
  { file, holders }: HeldFile,
): Promise<boolean> {
  if (file.ownerId === reader.userId) return true;
  if (await mayReadOne(reader, who, file, holders)) return true;
  const ids = holderIds(file);
  for (let start = AT_ONCE; start < ids.length; start += AT_ONCE) {
    const more = await loadMessages(reader.table, reader.realm, ids.slice(start, start + AT_ONCE));
    if (await mayReadOne(reader, who, file, more)) return true;
  }
  return false;
}

async function mayReadOne(
  reader: Reader,
  who: Standing,
  { pathId }: StoredFile,
  messages: readonly MessageSlot[],
): Promise<boolean> {
  const holding = messages.filter(({ files }) => files?.includes(pathId));
  const may = await Promise.all(holding.map((message) => mayRead(reader, who, message)));
  return may.includes(true);
}

/** The file, if the reader may get it. A missing one is 404, one of others 403 (companion facts 1.4). */
export async function accessFile(
  reader: Reader,
  who: Standing,
  held: HeldFile | undefined,
): Promise<StoredFile> {
  if (held === undefined) throw refusal('noSuchFile');
  if (!(await mayFetchFile(reader, who, held))) throw refusal('noFileAccess');
  return held.file;
}

/** What a request for a file needs. */
export interface FileSnapshot {
  readonly reader: Reader;
  readonly held: HeldFile | undefined;
}

/** Reads it. Two round trips, one for the owner; none for a path that cannot be one. */
export async function loadFileAccess(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  userId: number,
  path: FilePath | undefined,
): Promise<FileSnapshot> {
  const reader = new Reader(outside, realm, userId);
  const file = path && (await loadFile(outside.table, realm, path));
  return { reader, held: file && (await loadHeldFile(reader, file)) };
}
