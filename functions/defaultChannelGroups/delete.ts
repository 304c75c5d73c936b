import { accessDefaultGroup, doDeleteDefaultGroup } from '../../shared/domain/channel-edit/default-groups.ts';
import { deleteDefaultChannelGroup } from '../../shared/endpoints/default-channel-groups.ts';
import { loadDefaultGroups } from '../../shared/model/channel/default-groups.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteDefaultChannelGroup, {
  load: ({ realm, outside }) => loadDefaultGroups(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const group = accessDefaultGroup(input.group_id, stored);
    return commit(1, () => doDeleteDefaultGroup(realm, stored, group));
  },
});
