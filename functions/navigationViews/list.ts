import { loadNavigationViews, viewObject } from '../../shared/domain/navigation/view.ts';
import { listNavigationViews } from '../../shared/endpoints/navigation-views.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listNavigationViews, {
  load: ({ outside, realm, userId }) => loadNavigationViews(outside.table, realm, userId),
  run: (_, { views }) => ({ navigation_views: views.map(viewObject) }),
});
