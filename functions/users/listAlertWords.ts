import { listAlertWords } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listAlertWords, {
  run: ({ caller }) => ({ alert_words: [...(caller.user.alertWords ?? [])] }),
});
