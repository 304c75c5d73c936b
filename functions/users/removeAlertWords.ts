import { doSetAlertWords, withoutAlertWords } from '../../shared/domain/account/alert-words.ts';
import { removeAlertWords } from '../../shared/endpoints/users.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(removeAlertWords, {
  reserve: 1,
  run: ({ input, realm, caller: { user }, commit }) => {
    const words = withoutAlertWords(user, input.alert_words);
    return commit(1, () => doSetAlertWords(realm, user, words));
  },
});
