import { checkSettings, doChangeSettings } from '../../shared/domain/account/settings.ts';
import { seconds } from '../../shared/domain/presence/presence.ts';
import { updateSettings } from '../../shared/endpoints/settings.ts';
import { settingsOf } from '../../shared/model/user/user.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateSettings, {
  load: ({ outside, realm, userId }) => outside.table.get('settings', { realm, userId }),
  // An event for each setting, and two of them are told to others as well.
  reserve: (input) => Object.keys(input).length + 2,
  run: async ({ input, caller, commit, outside, realm }, stored) => {
    const change = checkSettings(caller, settingsOf(stored), input);
    const step = doChangeSettings(realm, caller.user, change, seconds(outside.now()));
    if (step) await commit(step.entries.length, () => ({ ...step, result: undefined }));
    return {};
  },
});
