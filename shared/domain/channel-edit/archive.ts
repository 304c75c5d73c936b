import { badRequest } from '../../kernel/errors.ts';
import { type ChannelWithSubscription, loadChannel } from '../../model/channel/access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Table } from '../../table/table.ts';
import { loadNoticeSnapshot, type NoticeSnapshot } from '../send/channel-notice.ts';
import { accessForAdministration } from './check.ts';
import type { DecidedEdit } from './edit.ts';

/** What archiving a channel is decided on. */
export interface ArchiveSnapshot extends NoticeSnapshot {
  readonly seen: ChannelWithSubscription | undefined;
}

/** Reads it in one round trip. */
export async function loadArchiveSnapshot(
  table: Table,
  realm: string,
  channelId: number,
  userId: number,
): Promise<ArchiveSnapshot> {
  const [seen, notices] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    loadNoticeSnapshot(table, realm, channelId),
  ]);
  return { seen, ...notices };
}

/** Decides on archiving a channel (wire facts 4.1, 4.7): it keeps its name, its messages and its subscribers. */
export function checkArchiving({ standing }: Caller, { seen }: ArchiveSnapshot): DecidedEdit {
  const { channel } = accessForAdministration(standing, seen);
  if (channel.isArchived) throw badRequest('The channel is archived already.');
  return { before: channel, after: { ...channel, isArchived: true, isDefault: false } };
}
