import { loadNavigationViews, viewObject } from '../../shared/domain/navigation/view.ts';
import { listNavigationViews } from '../../shared/endpoints/navigation-views.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listNavigationViews, {
  load: ({ outside, realm, userId }) => loadNavigationViews(outside.table, realm, userId),
  run: (_, { views }) => ({ navigation_views: views.map(viewObject) }),
});
