import { checkLinkifierOrder, doChangeLinkifiers } from '../../shared/domain/realm-edit/linkifiers.ts';
import { reorderLinkifiers } from '../../shared/endpoints/linkifiers.ts';
import { loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(reorderLinkifiers, {
  load: ({ realm, outside }) => loadLinkifiers(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, stored) => {
    const list = checkLinkifierOrder(input.ordered_linkifier_ids, stored);
    if (list.length === 0) return {};
    return commit(1, () => doChangeLinkifiers(realm, stored, list));
  },
});
