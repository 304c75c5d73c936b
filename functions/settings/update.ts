import { checkSettings, doChangeSettings } from '../../shared/domain/account/settings.ts';
import { preparePasswordChange } from '../../shared/domain/account/sign-in.ts';
import { doDeleteDrafts, loadAllDrafts } from '../../shared/domain/drafts/draft.ts';
import { seconds } from '../../shared/domain/presence/presence.ts';
import { updateSettings } from '../../shared/endpoints/settings.ts';
import { credentialsChanged } from '../../shared/model/user/caller.ts';
import { doSetPassword } from '../../shared/model/user/password.ts';
import { settingsOf } from '../../shared/model/user/user.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateSettings, {
  parse: ({ old_password: oldPassword, new_password: password, ...settings }) => ({
    passwords: password === undefined ? undefined : { from: oldPassword, to: password },
    settings,
  }),
  load: async ({ input: { settings }, outside: { table }, realm, userId }) => {
    const [stored, drafts] = await Promise.all([
      table.get('settings', { realm, userId }),
      settings.enable_drafts_synchronization === false ? loadAllDrafts(table, realm, userId) : undefined,
    ]);
    return { stored, drafts };
  },
  // An event for each setting, one for a password, and three that go to everyone.
  reserve: ({ settings }) => Object.keys(settings).length + 4,
  run: async ({ input: { passwords, settings }, caller, commit, outside, realm }, { stored, drafts }) => {
    const { user } = caller;
    const change = checkSettings(caller, settingsOf(stored), settings);
    const password = passwords && (await preparePasswordChange(outside, realm, user, passwords));
    const step = doChangeSettings(realm, user, change, seconds(outside.now()));
    const entries = [...(step?.entries ?? []), ...(password ? [credentialsChanged(user.userId)] : [])];
    const writes = [
      ...(step?.writes ?? []),
      ...(password ? [doSetPassword(realm, user.userId, password)] : []),
      ...(drafts ? doDeleteDrafts(realm, user.userId, drafts) : []),
    ];
    if (writes.length > 0) await commit(entries.length, () => ({ writes, entries, result: undefined }));
    return {};
  },
});
