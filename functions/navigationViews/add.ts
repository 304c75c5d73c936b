import {
  checkFragment,
  checkNewView,
  checkViewName,
  doAddView,
  loadNavigationViews,
} from '../../shared/domain/navigation/view.ts';
import { addNavigationView } from '../../shared/endpoints/navigation-views.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(addNavigationView, {
  parse: ({ fragment, is_pinned: isPinned, name }) => ({
    fragment: checkFragment(fragment),
    isPinned,
    ...(name !== undefined && { name: checkViewName(name) }),
  }),
  load: ({ outside, realm, userId }) => loadNavigationViews(outside.table, realm, userId),
  reserve: 1,
  run: async ({ input: view, realm, userId, commit }, views) => {
    checkNewView(views, view);
    await commit(1, () => doAddView(realm, userId, views, view));
    return {};
  },
});
