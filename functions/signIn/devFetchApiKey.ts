import { signInForDevelopment } from '../../shared/domain/account/sign-in.ts';
import { devFetchApiKey } from '../../shared/endpoints/sign-in.ts';
import { checkEmail } from '../../shared/model/user/name.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(devFetchApiKey, async ({ input, host, client, outside }) => {
  const given = { email: checkEmail(input.username), label: client };
  const { apiKey, email, userId } = await signInForDevelopment(outside, host, given);
  return { api_key: apiKey, email, user_id: userId };
});
