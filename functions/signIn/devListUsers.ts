import { accessDevelopmentUsers } from '../../shared/domain/account/sign-in.ts';
import { devListUsers } from '../../shared/endpoints/sign-in.ts';
import type { User } from '../../shared/model/user/user.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(devListUsers, async ({ host, baseUrl, outside }) => {
  const { administrators, others } = await accessDevelopmentUsers(outside, host);
  const listed = ({ email }: User) => ({ email, realm_url: baseUrl });
  return { direct_admins: administrators.map(listed), direct_users: others.map(listed) };
});
