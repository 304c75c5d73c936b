import { badRequest } from '../../kernel/errors.ts';
import { loadChannel, type Seen } from '../../model/channel/access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Table } from '../../table/table.ts';
import { doForgetChannel } from '../realm-edit/do.ts';
import { loadNoticeGround, type NoticeGround } from '../send/channel-notice.ts';
import { accessForAdministration } from './check.ts';
import { checkPlan, type EditPlan } from './do.ts';

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

/**
 * Decides on archiving a channel (wire facts 4.1, 4.7): it keeps its name, its messages and its subscribers, is no
 * default channel any more, and settings of the organization that named it name none. `now` is in milliseconds.
 */
export function checkArchiving(caller: Caller, ground: ArchiveGround, now: number): EditPlan {
  const { channel } = accessForAdministration(caller.standing, ground.seen);
  if (channel.isArchived) throw badRequest('The channel is archived already.');
  const after = { ...channel, isArchived: true, isDefault: false };
  const { write, events } = doForgetChannel(caller.realmId, caller.realm, channel.channelId);
  return checkPlan(caller, { before: channel, after }, ground, now, { writes: [write], events });
}
