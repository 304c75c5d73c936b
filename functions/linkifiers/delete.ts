import { checkLinkifierRemoval, doChangeLinkifiers } from '../../shared/domain/realm-edit/linkifiers.ts';
import { deleteLinkifier } from '../../shared/endpoints/linkifiers.ts';
import { loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteLinkifier, {
  load: ({ realm, outside }) => loadLinkifiers(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const list = checkLinkifierRemoval(input.filter_id, stored);
    return commit(1, () => doChangeLinkifiers(realm, stored, list));
  },
});
