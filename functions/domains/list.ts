import { listDomains } from '../../shared/endpoints/domains.ts';
import { domainObject, loadDomains } from '../../shared/model/realm/domains.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listDomains, {
  load: ({ realm, outside }) => loadDomains(outside.table, realm),
  run: (_, { list }) => ({ domains: list.map(domainObject) }),
});
