import {
  accessPlayground,
  doDeletePlayground,
  loadPlaygrounds,
} from '../../shared/domain/realm-edit/playgrounds.ts';
import { deletePlayground } from '../../shared/endpoints/playgrounds.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deletePlayground, {
  load: ({ realm, outside }) => loadPlaygrounds(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const playground = accessPlayground(input.playground_id, stored);
    return commit(1, () => doDeletePlayground(realm, stored, playground));
  },
});
