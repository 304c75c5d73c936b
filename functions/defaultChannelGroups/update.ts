import {
  accessDefaultGroup,
  checkDefaultGroupEdit,
  doEditDefaultGroup,
} from '../../shared/domain/channel-edit/default-groups.ts';
import { updateDefaultChannelGroup } from '../../shared/endpoints/default-channel-groups.ts';
import { loadDefaultGroups } from '../../shared/model/channel/default-groups.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateDefaultChannelGroup, {
  load: ({ realm, outside }) => loadDefaultGroups(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const group = checkDefaultGroupEdit(input, accessDefaultGroup(input.group_id, stored), stored);
    return commit(1, () => doEditDefaultGroup(realm, stored, group));
  },
});
