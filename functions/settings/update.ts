import { checkSettings, doChangeSettings } from '../../shared/domain/account/settings.ts';
import { preparePasswordChange } from '../../shared/domain/account/sign-in.ts';
import { seconds } from '../../shared/domain/presence/presence.ts';
import { updateSettings } from '../../shared/endpoints/settings.ts';
import { credentialsChanged } from '../../shared/model/user/api-key.ts';
import { doSetPassword } from '../../shared/model/user/password.ts';
import { settingsOf } from '../../shared/model/user/user.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateSettings, {
  parse: ({ old_password: oldPassword, new_password: password, ...settings }) => ({
    passwords: password === undefined ? undefined : { from: oldPassword, to: password },
    settings,
  }),
  load: ({ outside, realm, userId }) => outside.table.get('settings', { realm, userId }),
  // An event for each setting, one for a password, and two that go to everyone.
  reserve: ({ settings }) => Object.keys(settings).length + 3,
  run: async ({ input: { passwords, settings }, caller, commit, outside, realm }, stored) => {
    const { user } = caller;
    const change = checkSettings(caller, settingsOf(stored), settings);
    const password = passwords && (await preparePasswordChange(outside, realm, user, passwords));
    const step = doChangeSettings(realm, user, change, seconds(outside.now()));
    const entries = [...(step?.entries ?? []), ...(password ? [credentialsChanged(user.userId)] : [])];
    const writes = [
      ...(step?.writes ?? []),
      ...(password ? [doSetPassword(realm, user.userId, password)] : []),
    ];
    if (writes.length > 0) await commit(entries.length, () => ({ writes, entries, result: undefined }));
    return {};
  },
});
