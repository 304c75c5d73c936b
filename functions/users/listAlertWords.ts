import { listAlertWords } from '../../shared/endpoints/users.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listAlertWords, {
  run: ({ caller }) => ({ alert_words: [...(caller.user.alertWords ?? [])] }),
});
