import * as z from 'zod/mini';
import { MAX_FRAGMENT, MAX_VIEW_NAME } from '../domain/navigation/view.ts';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { navigationViewFields } from './objects.ts';
import { boolean, optional, text } from './parameter.ts';

const fragment = text(
  `The address of the view in the client, without \`#\`. At most ${MAX_FRAGMENT} characters.`,
);
const is_pinned = boolean('Whether the view is always shown in the left sidebar.');
const name = optional(
  text(
    `What the view is called, in at most ${MAX_VIEW_NAME} characters; required, except for views that every client has.`,
  ),
);

export const listNavigationViews = endpoint({
  id: 'navigationViews.list',
  route: 'GET /api/v1/navigation_views',
  source: 'https://zulip.com/api/get-navigation-views, companion facts 2.5',
  description: "Lists the caller's navigation views.",
  access: 'user',
  reply: z.object({ navigation_views: z.array(z.object(navigationViewFields)) }),
  needs: { table: readsItems },
});

export const addNavigationView = endpoint({
  id: 'navigationViews.add',
  route: 'POST /api/v1/navigation_views',
  source: 'https://zulip.com/api/add-navigation-view, companion facts 2.5',
  description: 'Adds a navigation view, which nobody else sees.',
  access: 'user',
  parameters: { fragment, is_pinned, name },
  needs: { table: writes },
});

export const updateNavigationView = endpoint({
  id: 'navigationViews.update',
  route: 'PATCH /api/v1/navigation_views/{fragment+}',
  source: 'https://zulip.com/api/edit-navigation-view, companion facts 2.5',
  description: 'Changes a navigation view.',
  access: 'user',
  parameters: { fragment, is_pinned: optional(is_pinned), name },
  notFound: true,
  needs: { table: writes },
});

export const removeNavigationView = endpoint({
  id: 'navigationViews.remove',
  route: 'DELETE /api/v1/navigation_views/{fragment+}',
  source: 'https://zulip.com/api/remove-navigation-view, companion facts 2.5',
  description: 'Deletes a navigation view.',
  access: 'user',
  parameters: { fragment },
  notFound: true,
  needs: { table: writes },
});
