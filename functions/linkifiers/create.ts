import { checkNewLinkifier, doCreateLinkifier } from '../../shared/domain/realm-edit/linkifiers.ts';
import { createLinkifier } from '../../shared/endpoints/linkifiers.ts';
import { loadLinkifierEngine } from '../../shared/markdown/linkifier.ts';
import { loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(createLinkifier, {
  load: ({ realm, outside }) => Promise.all([loadLinkifiers(outside.table, realm), loadLinkifierEngine()]),
  reserve: 1,
  run: ({ input, realm, commit }, [stored, engine]) => {
    const linkifier = checkNewLinkifier(engine, input, stored);
    return commit(1, ([id]) => doCreateLinkifier(realm, stored, id as number, linkifier));
  },
});
