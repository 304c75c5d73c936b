import { listLinkifiers } from '../../shared/endpoints/linkifiers.ts';
import { linkifierObjects, loadLinkifiers } from '../../shared/model/realm/linkifiers.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listLinkifiers, {
  load: ({ realm, outside }) => loadLinkifiers(outside.table, realm),
  run: (_, { list }) => ({ linkifiers: linkifierObjects(list) }),
});
