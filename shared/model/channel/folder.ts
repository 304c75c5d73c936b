import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
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
  /** How many channels are in it, archived ones too. Moving a channel changes it without a new version. */
  readonly channels: number;
  /** Grows with each edit, for optimistic locking. */
  readonly version: number;
}

/** How many bytes of the channels' quota a folder uses. */
export const folderBytes = ({
  name,
  description,
  renderedDescription,
}: Pick<Folder, 'name' | 'description' | 'renderedDescription'>): number =>
  bytesOf(name, description, renderedDescription);

/** The order of folders, as stored. Folders created later come after it, oldest first. */
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

/** Reads all folders, archived ones too, and their order. One query: they share a partition. */
export async function loadFolders(table: Table, realm: string): Promise<Folders> {
  const items = await table.all(['folder', 'folderOrder'], { realm });
  return {
    folders: new Map(items.flatMap((item) => ('folderId' in item ? [[item.folderId, item] as const] : []))),
    sorted: items.find((item) => 'order' in item),
  };
}

/** Reads the folder in a request; undefined if the request has none, or none that exists. */
export const loadFolder = async (
  table: Table,
  realm: string,
  folderId: number | null | undefined,
): Promise<Folder | undefined> =>
  typeof folderId === 'number' && isId(folderId) ? table.get('folder', { realm, folderId }) : undefined;

/** The `order` of a folder: its position among the sorted ones, or its id, which is larger than any position. */
const orderOf = (folderId: number, sorted: FolderOrder | undefined): number => {
  const position = sorted?.order.indexOf(folderId) ?? -1;
  return position < 0 ? folderId : position;
};

/** A folder on the wire (wire facts 5). */
export const folderObject = (folder: Folder, sorted: FolderOrder | undefined) => ({
  id: folder.folderId,
  name: folder.name,
  description: folder.description,
  rendered_description: folder.renderedDescription,
  date_created: folder.dateCreated,
  creator_id: folder.creatorId ?? null,
  is_archived: folder.isArchived,
  order: orderOf(folder.folderId, sorted),
});

/** The folders on the wire, in their order. */
export const folderObjects = ({ folders, sorted }: Folders, includeArchived: boolean) =>
  [...folders.values()]
    .filter(({ isArchived }) => includeArchived || !isArchived)
    .map((folder) => folderObject(folder, sorted))
    .sort((a, b) => a.order - b.order);

/** The folder to put a channel into. Refuses one that is missing or archived (specification 4.2, wire facts 5). */
export function accessFolderForChannel(folder: Folder | undefined): Folder {
  if (folder === undefined) throw badRequest('Invalid channel folder ID.');
  if (folder.isArchived) throw badRequest('The channel folder is archived.');
  return folder;
}

/**
 * Counts a channel that moves from one folder (or none) to another (or none). Fails if the new folder was archived
 * meanwhile, so a folder with channels is never archived.
 */
export const doMoveToFolder = (realm: string, from: number | undefined, to: number | undefined): Write[] =>
  from === to
    ? []
    : [
        ...(from === undefined ? [] : [addChannels(realm, from, -1)]),
        ...(to === undefined ? [] : [{ ...addChannels(realm, to, 1), when: isOpen }]),
      ];

/** Counts channels that are created together: one write for each folder. */
export function doFillFolders(realm: string, channels: readonly { readonly folderId?: number }[]): Write[] {
  const folderIds = channels.flatMap(({ folderId }) => folderId ?? []);
  return [...new Set(folderIds)].map((folderId) => {
    const count = folderIds.filter((each) => each === folderId).length;
    return { ...addChannels(realm, folderId, count), when: isOpen };
  });
}

const isOpen = { equals: { isArchived: false } };

const addChannels = (realm: string, folderId: number, channels: number) => ({
  update: key('folder', { realm, folderId }),
  change: { add: { channels } },
});
