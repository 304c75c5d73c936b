import { preparePasswordChange } from '../../shared/domain/account/sign-in.ts';
import { changePassword } from '../../shared/endpoints/pages.ts';
import { Refusal } from '../../shared/kernel/errors.ts';
import { credentialsChanged } from '../../shared/model/user/caller.ts';
import { doSetPassword } from '../../shared/model/user/password.ts';
import { accountPage, loadAccount } from '../../shared/pages/account.ts';
import { seeOther, servePage, showRefusal } from '../../shared/serve/page.ts';
import { siteOf } from '../../shared/serve/session.ts';

export const handler = servePage(changePassword, {
  load: ({ outside, realm, userId }) => loadAccount(outside, realm, userId),
  reserve: 1,
  run: async (request, loaded) => {
    const { input, outside, realm, userId, email, resolved, apiKey, caller, baseUrl, commit } = request;
    const { old_password: from, new_password: to } = input;
    try {
      const password = await preparePasswordChange(outside, realm, caller.user, { from, to });
      const writes = [doSetPassword(realm, userId, password)];
      await commit(1, () => ({ writes, entries: [credentialsChanged(userId)], result: undefined }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const account = resolved.existing({ kind: 'account', email });
      const shown = { caller, account, current: apiKey.id, loaded };
      return showRefusal(accountPage(siteOf(request), shown, { passwordProblem: error.message }), error);
    }
    return seeOther(baseUrl, '/account?done=password');
  },
});
