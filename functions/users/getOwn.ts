import { userObject } from '../../shared/domain/user/user-object.ts';
import { getOwnUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';

export const handler = serve(getOwnUser, {
  load: ({ outside, realm }) => outside.table.get<{ seq: number }>(key('counter', { realm })),
  run: ({ caller }, counter) => ({
    ...userObject(caller.user, { clientGravatar: false, profileData: true }),
    max_message_id: counter?.seq ?? -1,
  }),
});
