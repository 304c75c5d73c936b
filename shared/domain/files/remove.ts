import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Change } from '../../log/commit.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Condition } from '../../table/write.ts';
import { attachmentEvent } from './event.ts';
import type { OwnFile } from './file.ts';
import { doNoteUnused } from './unused.ts';

/** The file of a user with this id; undefined if they have none. One round trip. */
export const loadOwnFile = async (
  table: Table,
  realm: string,
  userId: number,
  attachmentId: number,
): Promise<OwnFile | undefined> =>
  isId(attachmentId) ? table.get('attachment', { realm, userId, attachmentId }) : undefined;

/** The file, if it is the caller's own. All others are refused alike (companion facts 1.6). */
export function accessOwnFile(file: OwnFile | undefined): OwnFile {
  if (file === undefined) throw badRequest('You have no file with this ID.');
  return file;
}

/**
 * Removes a file for everybody; messages keep their links to it. The bytes are removed afterwards, by the request or, if
 * it dies, by cleanup. Fails if the file has gone, or is not as `when` says.
 */
export function doRemoveFile(
  realm: string,
  userId: number,
  file: OwnFile,
  when: Condition = { absent: false },
): Change<object> {
  const { attachmentId, token, size } = file;
  return {
    writes: [
      { delete: key('file', { realm, token }), when },
      { delete: key('attachment', { realm, userId, attachmentId }), when: { absent: false } },
      { update: key('uploadSpace', { realm }), change: { add: { used: -size } } },
      doNoteUnused(realm, token, 0),
    ],
    entries: [attachmentEvent(userId, 'remove', file)],
    result: {},
  };
}
