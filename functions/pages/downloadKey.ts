import { addKey } from '../../shared/domain/account/api-key.ts';
import { downloadKey } from '../../shared/endpoints/pages.ts';
import { clientConfiguration } from '../../shared/model/user/client-configuration.ts';
import { download, servePage } from '../../shared/serve/page.ts';

export const handler = servePage(downloadKey, {
  run: async ({ outside, realm, baseUrl, caller }) => {
    const { email } = caller.user;
    const apiKey = await addKey(outside, realm, email, 'zuliprc');
    return download('zuliprc', clientConfiguration(email, apiKey, baseUrl));
  },
});
