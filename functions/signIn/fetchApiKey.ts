import { sqsQueues } from '../../shared/adapters/queues.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import { fetchApiKey } from '../../shared/endpoints/sign-in.ts';
import { checkEmail } from '../../shared/model/user/name.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(
  fetchApiKey,
  async ({ input, host, client, address, outside, clients }) => {
    const { username, password } = input;
    const given = { email: checkEmail(username), password, address, label: client };
    const { apiKey, email, userId } = await signInWithPassword(outside, clients.queues, host, given);
    return { api_key: apiKey, email, user_id: userId };
  },
  { queues: sqsQueues },
);
