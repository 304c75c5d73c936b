import { keyObjects, loadKeyUses } from '../../shared/domain/account/api-key.ts';
import { showAccount } from '../../shared/endpoints/pages.ts';
import { accountPage } from '../../shared/pages/account.ts';
import { servePage, showPage } from '../../shared/serve/page.ts';
import { siteOf } from '../../shared/serve/session.ts';

export const handler = servePage(showAccount, {
  load: ({ outside, realm, userId }) => loadKeyUses(outside, realm, userId),
  run: (request, uses) => {
    const { email, resolved, apiKey, caller, input } = request;
    return showPage(
      accountPage(siteOf(request), {
        organization: caller.realm.name,
        fullName: caller.user.fullName,
        email: caller.user.email,
        devices: keyObjects(resolved.existing({ kind: 'account', email }), uses, apiKey.id),
        done: input.done,
      }),
    );
  },
});
