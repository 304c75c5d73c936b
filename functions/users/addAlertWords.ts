import {
  checkAlertWords,
  doSetAlertWords,
  parseAlertWords,
} from '../../shared/domain/account/alert-words.ts';
import { addAlertWords } from '../../shared/endpoints/users.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(addAlertWords, {
  parse: ({ alert_words }) => parseAlertWords(alert_words),
  reserve: 1,
  run: ({ input: added, realm, caller: { user }, commit }) => {
    const words = checkAlertWords(user, added);
    return commit(1, () => doSetAlertWords(realm, user, words));
  },
});
