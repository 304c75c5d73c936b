import { type EventEntry, eventFor, type Payload } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import { attachmentObject, loadFile, loadUploadSpace, type StoredFile } from './file.ts';
import { parsePathId } from './path.ts';

/**
 * The event about a file, for one user (companion facts 1.6). The file and the space in use are read when it is delivered,
 * so that of two changes at once none is lost.
 */
export const attachmentEvent = (
  userId: number,
  op: 'add' | 'update' | 'remove',
  { attachmentId, pathId }: Pick<StoredFile, 'attachmentId' | 'pathId'>,
): EventEntry =>
  eventFor(
    { users: [userId] },
    { type: 'attachment', op, attachment: { id: attachmentId, ...(op !== 'remove' && { path_id: pathId }) } },
    { fill: 'attachment' },
  );

/** Completes the event. Undefined if the file is gone: then its `remove` follows. One round trip. */
export async function withAttachment(
  table: Table,
  realm: string,
  payload: Payload,
): Promise<Payload | undefined> {
  const { path_id: pathId = '' } = payload.attachment as { readonly path_id?: string };
  const path = parsePathId(pathId);
  const [file, used] = await Promise.all([
    path && loadFile(table, realm, path),
    loadUploadSpace(table, realm),
  ]);
  if (payload.op === 'remove') return { ...payload, upload_space_used: used };
  return file && { ...payload, attachment: attachmentObject(file), upload_space_used: used };
}
