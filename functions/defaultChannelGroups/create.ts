import {
  checkNewDefaultGroup,
  doCreateDefaultGroup,
  groupChannelKeys,
  loadGroupSnapshot,
  parseGroupChannels,
} from '../../shared/domain/channel-edit/default-groups.ts';
import { createDefaultChannelGroup } from '../../shared/endpoints/default-channel-groups.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(createDefaultChannelGroup, {
  parse: (input) => ({ ...input, names: parseGroupChannels(input.stream_names) }),
  keys: ({ names }) => groupChannelKeys(names),
  load: ({ input, resolved, outside }) => loadGroupSnapshot(outside.table, resolved, input.names),
  reserve: 1,
  run: ({ input, realm, commit }, snapshot) => {
    const group = checkNewDefaultGroup(input, snapshot);
    return commit(1, ([id]) => doCreateDefaultGroup(realm, snapshot.stored, { id: id as number, ...group }));
  },
});
