import { checkLinkifierEdit, doChangeLinkifiers } from '../../shared/domain/realm-edit/linkifiers.ts';
import { updateLinkifier } from '../../shared/endpoints/linkifiers.ts';
import { loadLinkifierEngine } from '../../shared/markdown/linkifier.ts';
import { loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateLinkifier, {
  load: ({ realm, outside }) => Promise.all([loadLinkifiers(outside.table, realm), loadLinkifierEngine()]),
  reserve: 1,
  run: ({ input, realm, commit }, [stored, engine]) => {
    const list = checkLinkifierEdit(engine, input.filter_id, input, stored);
    return commit(1, () => doChangeLinkifiers(realm, stored, list));
  },
});
