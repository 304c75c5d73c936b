import {
  accessView,
  checkNameOf,
  checkViewName,
  doChangeView,
  loadNavigationViews,
} from '../../shared/domain/navigation/view.ts';
import { updateNavigationView } from '../../shared/endpoints/navigation-views.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateNavigationView, {
  parse: ({ fragment, is_pinned: isPinned, name }) => ({
    fragment,
    change: {
      ...(isPinned !== undefined && { isPinned }),
      ...(name !== undefined && { name: checkViewName(name) }),
    },
  }),
  load: ({ outside, realm, userId }) => loadNavigationViews(outside.table, realm, userId),
  reserve: 1,
  run: async ({ input: { fragment, change }, realm, userId, commit }, views) => {
    accessView(views, fragment);
    if (change.name !== undefined) checkNameOf(views, fragment, change.name);
    if (Object.keys(change).length > 0)
      await commit(1, () => doChangeView(realm, userId, views, fragment, change));
    return {};
  },
});
