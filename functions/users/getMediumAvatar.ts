import { getMediumAvatar } from '../../shared/endpoints/file-pages.ts';
import { mediumAvatarUrlOf } from '../../shared/model/user/object.ts';
import { serveAvatar } from '../../shared/serve/avatar.ts';

export const handler = serveAvatar(getMediumAvatar, mediumAvatarUrlOf);
