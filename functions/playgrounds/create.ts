import {
  checkNewPlayground,
  doCreatePlayground,
  loadPlaygrounds,
} from '../../shared/domain/realm-edit/playgrounds.ts';
import { createPlayground } from '../../shared/endpoints/playgrounds.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(createPlayground, {
  load: ({ realm, outside }) => loadPlaygrounds(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const playground = checkNewPlayground(input, stored);
    return commit(1, ([id]) => doCreatePlayground(realm, stored, { id: id as number, ...playground }));
  },
});
