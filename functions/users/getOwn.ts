import { loadProfiles } from '../../shared/domain/profile/value.ts';
import { getOwnUser } from '../../shared/endpoints/users.ts';
import { userObject } from '../../shared/model/user/object.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(getOwnUser, {
  load: async ({ outside, realm, userId }) => {
    const [counter, profile] = await Promise.all([
      outside.table.get('counter', { realm }),
      loadProfiles(outside, realm, [userId]),
    ]);
    return { counter, profile };
  },
  run: ({ caller }, { counter, profile }) => ({
    ...userObject(caller.user, { clientGravatar: false, profile }),
    max_message_id: counter?.seq ?? -1,
  }),
});
