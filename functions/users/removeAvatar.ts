import { s3Objects } from '../../shared/adapters/objects.ts';
import { avatarKeys, checkAvatarChange, doSetAvatar } from '../../shared/domain/account/avatar.ts';
import { removeAvatar } from '../../shared/endpoints/users.ts';
import { removeImages } from '../../shared/model/realm/picture.ts';
import { avatarUrlOf } from '../../shared/model/user/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  removeAvatar,
  {
    reserve: 1,
    run: async ({ realm, caller, clients, commit }) => {
      const { user } = caller;
      checkAvatarChange(caller);
      if (user.avatarUrl === undefined) return { avatar_url: avatarUrlOf(user) };
      const reply = await commit(1, () => doSetAvatar(realm, user, undefined));
      await removeImages(clients.objects, avatarKeys(user));
      return reply;
    },
  },
  { objects: s3Objects },
);
