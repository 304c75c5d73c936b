import { getAvatar } from '../../shared/endpoints/file-pages.ts';
import { avatarUrlOf } from '../../shared/model/user/object.ts';
import { serveAvatar } from '../../shared/serve/avatar.ts';

export const handler = serveAvatar(getAvatar, avatarUrlOf);
