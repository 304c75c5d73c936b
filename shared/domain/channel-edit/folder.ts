import { badRequest } from '../../kernel/errors.ts';
import { checkQuota, doUseQuota } from '../../kernel/quota.ts';
import { checkPrintable, codePoints, folded } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
import { type Folder, type Folders, folderBytes, folderObject } from '../../model/channel/folder.ts';
import { limits } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';
import { hasVersion, type Write } from '../../table/write.ts';

/** Names are compared without case and surrounding blanks, but stored as sent (wire facts 5). */
const compared = (name: string): string => folded(name.trim());

const nameKey = (realm: string, name: string) => key('folderName', { realm, name: compared(name) });

/** Refuses an invalid folder name, and one that another folder has that is not archived. */
export function checkFolderName(name: string, { folders }: Folders, folderId?: number): string {
  if (name.trim() === '') throw badRequest('A channel folder needs a name.');
  if (codePoints(name) > limits.folderName) {
    throw badRequest(`A channel folder name has at most ${limits.folderName} characters.`);
  }
  checkPrintable('The channel folder name', name);
  checkNameIsFree(name, folders, folderId);
  return name;
}

function checkNameIsFree(name: string, folders: Folders['folders'], folderId: number | undefined): void {
  for (const folder of folders.values()) {
    const isOther = folder.folderId !== folderId && !folder.isArchived;
    if (isOther && compared(folder.name) === compared(name)) {
      throw badRequest(`There is already a channel folder named '${folder.name}'.`);
    }
  }
}

/** Refuses a folder description that is too long. */
export function checkFolderDescription(description: string): string {
  if (codePoints(description) > limits.folderDescription) {
    throw badRequest(`A channel folder description has at most ${limits.folderDescription} characters.`);
  }
  return description;
}

const event = (payload: object): EventEntry => eventForEveryone({ type: 'channel_folder', ...payload });

/** Creates a folder: the folder, the guard of its name, and the event. */
export function doCreateFolder(
  realm: string,
  folder: Folder,
): Change<{ readonly channel_folder_id: number }> {
  const { folderId, name } = folder;
  return {
    writes: [
      { put: key('folder', { realm, folderId }), item: { ...folder } },
      { put: nameKey(realm, name), item: { folderId }, when: { absent: true } },
      ...doUseQuota(realm, 'channels', folderBytes(folder)),
    ],
    entries: [event({ op: 'add', channel_folder: folderObject(folder, undefined) })],
    result: { channel_folder_id: folderId },
  };
}

/** The changes in a request. */
interface FolderEdit {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly isArchived?: boolean | undefined;
}

/** A folder before and after a checked edit. */
interface DecidedFolder {
  readonly before: Folder;
  readonly after: Folder;
}

/**
 * Checks an edit. A folder with channels cannot be archived; unarchiving one needs a free name (wire facts 5).
 * `channelBytes` is how many bytes channels and folders use.
 */
export function checkFolderEdit(
  folderId: number,
  edit: FolderEdit,
  all: Folders,
  channelBytes: number,
  render: (description: string) => string,
): DecidedFolder {
  const before = all.folders.get(folderId);
  if (before === undefined) throw badRequest('Invalid channel folder ID.');
  const isArchived = edit.isArchived ?? before.isArchived;
  const name = edit.name ?? before.name;
  const isNamed = name !== before.name;
  // An archived folder does not reserve its name, so it may have one that is taken.
  if (isNamed) checkFolderName(name, isArchived ? { ...all, folders: new Map() } : all, folderId);
  else if (before.isArchived && !isArchived) checkNameIsFree(name, all.folders, folderId);
  if (isArchived && !before.isArchived && before.channels > 0) {
    throw badRequest('A channel folder can only be archived when no channels are in it.');
  }
  const description = checkFolderDescription(edit.description ?? before.description);
  const isDescribed = description !== before.description;
  const after: Folder = {
    ...before,
    name,
    description,
    renderedDescription: isDescribed ? render(description) : before.renderedDescription,
    isArchived,
  };
  checkQuota('channels', channelBytes, folderBytes(after) - folderBytes(before));
  return { before, after };
}

/** One event for each change, in the order of the reference implementation. */
function eventsOfFolderEdit({ before, after }: DecidedFolder): EventEntry[] {
  const data: object[] = [];
  if (after.name !== before.name) data.push({ name: after.name });
  if (after.description !== before.description) {
    data.push({ description: after.description, rendered_description: after.renderedDescription });
  }
  if (after.isArchived !== before.isArchived) data.push({ is_archived: after.isArchived });
  return data.map((each) => event({ op: 'update', channel_folder_id: after.folderId, data: each }));
}

/** Edits a folder. An archived folder does not reserve its name. */
export function doEditFolder(realm: string, decided: DecidedFolder): Change<Record<string, never>> {
  const { before, after } = decided;
  const { folderId, name, description, renderedDescription, isArchived } = after;
  const archives = isArchived && !before.isArchived;
  return {
    writes: [
      {
        update: key('folder', { realm, folderId }),
        change: { set: { name, description, renderedDescription, isArchived, version: before.version + 1 } },
        when: { equals: { version: before.version, ...(archives && { channels: 0 }) } },
        lastWriterWins: true,
      },
      ...nameWrites(realm, decided),
      ...doUseQuota(realm, 'channels', folderBytes(after) - folderBytes(before)),
    ],
    entries: eventsOfFolderEdit(decided),
    result: {},
  };
}

/** The guards of the folder's names. */
function nameWrites(realm: string, { before, after }: DecidedFolder): Write[] {
  const { folderId } = before;
  const old = before.isArchived ? undefined : nameKey(realm, before.name);
  const now = after.isArchived ? undefined : nameKey(realm, after.name);
  if (old?.pk === now?.pk) return [];
  return [
    ...(old ? [{ delete: old }] : []),
    ...(now ? [{ put: now, item: { folderId }, when: { absent: true } }] : []),
  ];
}

/** Refuses an order that does not list every folder exactly once (wire facts 5). */
export function checkFolderOrder(order: readonly number[], { folders }: Folders): void {
  const isAll = order.length === folders.size && new Set(order).size === order.length;
  if (!isAll || !order.every((id) => folders.has(id))) {
    throw badRequest("'order' must name each channel folder once, archived ones too.");
  }
}

/** Stores the order. Fails if it changed meanwhile. A folder that is created meanwhile comes last. */
export const doSortFolders = (
  realm: string,
  order: readonly number[],
  { sorted }: Folders,
): Change<Record<string, never>> => ({
  writes: [
    {
      put: key('folderOrder', { realm }),
      item: { order, version: (sorted?.version ?? 0) + 1 },
      when: hasVersion(sorted?.version),
      lastWriterWins: true,
    },
  ],
  entries: [event({ op: 'reorder', order })],
  result: {},
});
