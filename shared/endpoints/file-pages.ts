import { endpoint, reads } from './endpoint.ts';
import { text } from './parameter.ts';

/** The path of a file: the number of the organization, a part of a random text, that text, and a name. */
export const filePath = {
  realm_id: text('The number of the organization, as in the path of the file.'),
  shard: text('The second part of the path of the file.'),
  token: text('The third part of the path of the file.'),
  name: text('The last part of the path of the file.'),
} as const;

/** What all ways to get a file have in common. */
const file = {
  isPage: true,
  takesCredentials: true,
  source: 'companion facts 1.4',
  access: 'user',
  webhookBots: true,
  parameters: filePath,
  serves: 'The file.',
  notFound: true,
  // As in the reference: a conversation may show dozens of images at once.
  weight: () => 0,
  needs: { table: reads, buckets: { uploads: ['GetObject'] } },
  timeout: 15,
  memory: 1024,
} as const;

export const getFile = endpoint({
  ...file,
  id: 'files.get',
  route: 'GET /user_uploads/{realm_id}/{shard}/{token}/{name}',
  description: 'Gets a file, which a browser shows if nothing in it can run.',
});

export const downloadFile = endpoint({
  ...file,
  id: 'files.download',
  route: 'GET /user_uploads/download/{realm_id}/{shard}/{token}/{name}',
  description: 'Gets a file, which a browser stores.',
});

export const getThumbnail = endpoint({
  ...file,
  id: 'files.getThumbnail',
  route: 'GET /user_uploads/thumbnail/{realm_id}/{shard}/{token}/{name}/{format}',
  source: 'https://zulip.com/api/message-formatting, feature levels 273 to 336',
  description: 'Gets a thumbnail of an image, for those who may get the image.',
  parameters: {
    ...filePath,
    format: text('The name of a thumbnail format (`server_thumbnail_formats`); the nearest one is served.'),
  },
  serves: 'The thumbnail (WebP).',
});

/** What the two addresses of an avatar have in common. */
const avatar = {
  isPage: true,
  takesCredentials: true,
  source: 'companion facts 4.8',
  access: 'user',
  parameters: { user: text('The ID or the email address of the user.') },
  serves: 'A redirection (302) to the picture.',
  weight: () => 0,
} as const;

export const getAvatar = endpoint({
  ...avatar,
  id: 'users.getAvatar',
  route: 'GET /avatar/{user}',
  description: 'Leads to the avatar of a user.',
});

export const getMediumAvatar = endpoint({
  ...avatar,
  id: 'users.getMediumAvatar',
  route: 'GET /avatar/{user}/medium',
  description: 'Leads to a larger avatar of a user.',
});
