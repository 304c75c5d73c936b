import {
  checkNewUserSettings,
  doChangeNewUserSettings,
  loadNewUserSettings,
} from '../../shared/domain/account/default-settings.ts';
import { updateNewUserSettings } from '../../shared/endpoints/settings.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateNewUserSettings, {
  load: ({ outside, realm }) => loadNewUserSettings(outside.table, realm),
  reserve: (input) => Object.keys(input).length,
  run: async ({ input, realm, commit }, before) => {
    const changes = checkNewUserSettings(before, input);
    const count = Object.keys(changes).length;
    if (count > 0) await commit(count, () => doChangeNewUserSettings(realm, before, changes));
    return {};
  },
});
