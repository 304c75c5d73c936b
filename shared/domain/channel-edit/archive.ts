import { badRequest } from '../../kernel/errors.ts';
import { loadChannel, type Seen } from '../../model/channel/access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Table } from '../../table/table.ts';
import { loadNoticeGround, type NoticeGround } from '../send/channel-notice.ts';
import { accessForAdministration } from './check.ts';
import type { DecidedEdit } from './edit.ts';

/** What archiving a channel is decided on. */
export interface ArchiveGround extends NoticeGround {
  readonly seen: Seen | undefined;
}

/** Reads it in one round trip. */
export async function loadArchiveGround(
  table: Table,
  realm: string,
  channelId: number,
  userId: number,
): Promise<ArchiveGround> {
  const [seen, notices] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    loadNoticeGround(table, realm, channelId),
  ]);
  return { seen, ...notices };
}

/** Decides on archiving a channel (wire facts 4.1, 4.7): it keeps its name, its messages and its subscribers. */
export function checkArchiving({ standing }: Caller, { seen }: ArchiveGround): DecidedEdit {
  const { channel } = accessForAdministration(standing, seen);
  if (channel.isArchived) throw badRequest('The channel is archived already.');
  return { before: channel, after: { ...channel, isArchived: true, isDefault: false } };
}
