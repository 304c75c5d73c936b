import { accessView, doRemoveView, loadNavigationViews } from '../../shared/domain/navigation/view.ts';
import { removeNavigationView } from '../../shared/endpoints/navigation-views.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(removeNavigationView, {
  load: ({ outside, realm, userId }) => loadNavigationViews(outside.table, realm, userId),
  reserve: 1,
  run: async ({ input: { fragment }, realm, userId, commit }, views) => {
    accessView(views, fragment);
    await commit(1, () => doRemoveView(realm, userId, views, fragment));
    return {};
  },
});
