import {
  accessDefaultGroup,
  checkGroupChannels,
  doEditDefaultGroup,
  groupChannelKeys,
  loadGroupSnapshot,
  parseGroupChannels,
} from '../../shared/domain/channel-edit/default-groups.ts';
import { updateChannelsOfDefaultChannelGroup } from '../../shared/endpoints/default-channel-groups.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateChannelsOfDefaultChannelGroup, {
  parse: (input) => ({ ...input, names: parseGroupChannels(input.stream_names) }),
  keys: ({ names }) => groupChannelKeys(names),
  load: ({ input, resolved, outside }) => loadGroupSnapshot(outside.table, resolved, input.names),
  reserve: 1,
  run: ({ input, realm, commit }, snapshot) => {
    const { stored } = snapshot;
    const group = accessDefaultGroup(input.group_id, stored);
    const changed = checkGroupChannels(input.op, input.names, group, snapshot);
    return commit(1, () => doEditDefaultGroup(realm, stored, changed));
  },
});
