import { listDomains } from '../../shared/endpoints/domains.ts';
import { domainObject, loadDomains } from '../../shared/model/realm/domains.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listDomains, {
  load: ({ realm, outside }) => loadDomains(outside.table, realm),
  run: (_, { list }) => ({ domains: list.map(domainObject) }),
});
