import { avatarImages } from '../../shared/adapters/image.ts';
import { loadDecoder } from '../../shared/adapters/image-decoder.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { avatarKeys, checkAvatarChange, doSetAvatar, newAvatar } from '../../shared/domain/account/avatar.ts';
import { setAvatar } from '../../shared/endpoints/users.ts';
import { checkPictureSize, commitImages, isMadeOf, pictureName } from '../../shared/model/realm/picture.ts';
import { avatarUrlOf } from '../../shared/model/user/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  setAvatar,
  {
    load: () => loadDecoder(),
    reserve: 1,
    run: async ({ realm, caller, outside, clients, file, commit }, decoder) => {
      const { user } = caller;
      checkAvatarChange(caller);
      checkPictureSize(file.bytes);
      // The request is repeated.
      if (isMadeOf(user.avatarUrl, file.bytes)) return { avatar_url: avatarUrlOf(user) };
      const drawn = await avatarImages(decoder, file.bytes);
      const { path, images } = newAvatar(realm, pictureName(file.bytes, outside.randomBytes), drawn);
      const change = () => commit(1, () => doSetAvatar(realm, user, path));
      return commitImages(clients.objects, images, change, avatarKeys(user));
    },
  },
  { objects: s3Objects },
);
