import { showAccount } from '../../shared/endpoints/pages.ts';
import { accountPage, loadAccount } from '../../shared/pages/account.ts';
import { servePage, showPage } from '../../shared/serve/page.ts';
import { siteOf } from '../../shared/serve/session.ts';

export const handler = servePage(showAccount, {
  load: ({ outside, realm, userId }) => loadAccount(outside, realm, userId),
  run: (request, loaded) => {
    const { email, resolved, apiKey, caller, input } = request;
    const account = resolved.existing({ kind: 'account', email });
    return showPage(accountPage(siteOf(request), { caller, account, current: apiKey.id, loaded }, input));
  },
});
