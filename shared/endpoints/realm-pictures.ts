import * as z from 'zod/mini';
import { endpoint, readsItems, removesImage, storesImage } from './endpoint.ts';
import { boolean } from './parameter.ts';

const source = 'companion facts 4.8';
const file = 'A PNG, GIF, WebP or JPEG image of at most 4 MiB.';
const night = { night: boolean('Whether it is the logo for dark themes.') };

const stores = {
  ...storesImage,
  source,
  access: 'administrator',
  size: { bytes: 5 * 1024 * 1024 },
} as const;

const removes = { source, access: 'administrator', needs: removesImage } as const;

const leads = {
  source,
  access: 'user',
  serves: 'A redirection (302) to the picture.',
  needs: { table: readsItems },
} as const;

export const setIcon = endpoint({
  ...stores,
  id: 'realm.setIcon',
  route: 'POST /api/v1/realm/icon',
  description: 'Sets the icon of the organization from an uploaded image, which is cropped to a square.',
  file,
  reply: z.object({ icon_url: z.string() }),
});

export const removeIcon = endpoint({
  ...removes,
  id: 'realm.removeIcon',
  route: 'DELETE /api/v1/realm/icon',
  description: 'Removes the icon of the organization. One of Gravatar takes its place.',
  reply: z.object({ icon_url: z.string() }),
});

export const getIcon = endpoint({
  ...leads,
  id: 'realm.getIcon',
  route: 'GET /api/v1/realm/icon',
  description: 'Leads to the icon of the organization.',
});

export const setLogo = endpoint({
  ...stores,
  id: 'realm.setLogo',
  route: 'POST /api/v1/realm/logo',
  description:
    'Sets a logo of the organization from an uploaded image, which becomes at most 800 by 100 pixels.',
  parameters: night,
  file,
});

export const removeLogo = endpoint({
  ...removes,
  id: 'realm.removeLogo',
  route: 'DELETE /api/v1/realm/logo',
  description: 'Removes a logo of the organization.',
  parameters: night,
});

export const getLogo = endpoint({
  ...leads,
  id: 'realm.getLogo',
  route: 'GET /api/v1/realm/logo',
  description: 'Leads to a logo of the organization, if it has one.',
  parameters: night,
  notFound: true,
});
