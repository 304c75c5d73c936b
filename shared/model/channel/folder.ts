import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import { bytesOf } from '../../kernel/quota.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** A channel folder, as stored. */
export interface Folder {
  readonly folderId: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  /** Seconds since 1970. */
  readonly dateCreated: number;
  readonly creatorId?: number;
  readonly isArchived: boolean;
  /** How many channels are in it, archived ones too; kept by the writes that move them, without a new version. */
  readonly channels: number;
  /** Grows with each edit, so that a change can be held to what it saw. */
  readonly version: number;
}

/** The bytes that a folder takes of the quota of channels. */
export const folderBytes = ({
  name,
  description,
  renderedDescription,
}: Pick<Folder, 'name' | 'description' | 'renderedDescription'>): number =>
  bytesOf(name, description, renderedDescription);

/** The order in which folders were sorted, as stored. Those that came later stand behind it, oldest first. */
export interface FolderOrder {
  readonly order: readonly number[];
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    folder: Folder;
    folderOrder: FolderOrder;
  }
}

/** All folders of an organization and their order. */
export interface Folders {
  readonly folders: ReadonlyMap<number, Folder>;
  readonly sorted: FolderOrder | undefined;
}

/** Reads all folders, archived ones too: they share a partition with their order, so it is one query. */
export async function loadFolders(table: Table, realm: string): Promise<Folders> {
  const items = await table.all(['folder', 'folderOrder'], { realm });
  return {
    folders: new Map(items.flatMap((item) => ('folderId' in item ? [[item.folderId, item] as const] : []))),
    sorted: items.find((item) => 'order' in item),
  };
}

/** Reads the folder that a request gives for a channel; undefined where it gives none that exists. */
export const loadFolder = async (
  table: Table,
  realm: string,
  folderId: number | null | undefined,
): Promise<Folder | undefined> =>
  typeof folderId === 'number' && isId(folderId) ? table.get('folder', { realm, folderId }) : undefined;

/** Where a folder stands on the wire: its place among the sorted ones, or its id, which is larger than any place. */
const placeOf = (folderId: number, sorted: FolderOrder | undefined): number => {
  const place = sorted?.order.indexOf(folderId) ?? -1;
  return place < 0 ? folderId : place;
};

/** A folder as clients see one (wire facts 5). */
export const folderObject = (folder: Folder, sorted: FolderOrder | undefined) => ({
  id: folder.folderId,
  name: folder.name,
  description: folder.description,
  rendered_description: folder.renderedDescription,
  date_created: folder.dateCreated,
  creator_id: folder.creatorId ?? null,
  is_archived: folder.isArchived,
  order: placeOf(folder.folderId, sorted),
});

/** The folders as clients see them, in their order. */
export const folderObjects = ({ folders, sorted }: Folders, includeArchived: boolean) =>
  [...folders.values()]
    .filter(({ isArchived }) => includeArchived || !isArchived)
    .map((folder) => folderObject(folder, sorted))
    .sort((a, b) => a.order - b.order);

/** The folder into which a channel is to be put; an archived one takes none (specification 4.2, wire facts 5). */
export function accessFolderForChannel(folder: Folder | undefined): Folder {
  if (folder === undefined) throw badRequest('Invalid channel folder ID.');
  if (folder.isArchived) throw badRequest('The channel folder is archived.');
  return folder;
}

/**
 * Keeps the counts right when a channel goes from one folder (or none) to another (or none). Refused by the store
 * when the new one was archived meanwhile; so a folder with channels is never archived.
 */
export const doMoveToFolder = (realm: string, from: number | undefined, to: number | undefined): Write[] =>
  from === to
    ? []
    : [
        ...(from === undefined ? [] : [counted(realm, from, -1)]),
        ...(to === undefined ? [] : [{ ...counted(realm, to, 1), when: isOpen }]),
      ];

/** The same for channels that are created together: a folder takes one write, however many go into it. */
export function doFillFolders(realm: string, channels: readonly { readonly folderId?: number }[]): Write[] {
  const folderIds = channels.flatMap(({ folderId }) => folderId ?? []);
  return [...new Set(folderIds)].map((folderId) => {
    const count = folderIds.filter((each) => each === folderId).length;
    return { ...counted(realm, folderId, count), when: isOpen };
  });
}

const isOpen = { equals: { isArchived: false } };

const counted = (realm: string, folderId: number, channels: number) => ({
  update: key('folder', { realm, folderId }),
  change: { add: { channels } },
});
