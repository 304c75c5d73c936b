import { checkArchiving } from '../../shared/domain/channel-edit/check.ts';
import { editChannel } from '../../shared/domain/channel-edit/edit.ts';
import { doClearChannelSettings } from '../../shared/domain/realm-edit/edit.ts';
import { loadNoticeSnapshot } from '../../shared/domain/send/notice.ts';
import { archiveChannel } from '../../shared/endpoints/channels.ts';
import { loadChannel } from '../../shared/model/channel/access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(archiveChannel, {
  load: async ({ input: { stream_id }, outside: { table }, realm, userId }) => {
    const [seen, notices] = await Promise.all([
      loadChannel(table, realm, stream_id, userId),
      loadNoticeSnapshot(table, realm, stream_id),
    ]);
    return { seen, ...notices };
  },
  // The change, its deletion for old clients, the end of its place among default channels or in their groups, two settings, and the notice.
  reserve: 6,
  run: ({ caller, outside, commit }, snapshot) => {
    const edit = checkArchiving(caller, snapshot);
    // Settings of the organization that name the channel name none from then on.
    const { write, events } = doClearChannelSettings(caller.realmId, caller.realm, edit.before.channelId);
    return editChannel(caller, commit, edit, snapshot, outside.now(), { writes: [write], events });
  },
});
