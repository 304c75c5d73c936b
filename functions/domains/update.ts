import { accessDomain, doChangeDomain } from '../../shared/domain/realm-edit/domains.ts';
import { updateDomain } from '../../shared/endpoints/domains.ts';
import { loadDomains } from '../../shared/model/realm/domains.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateDomain, {
  load: ({ realm, outside }) => loadDomains(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, domains) => {
    const domain = accessDomain(domains, input.domain);
    if (domain.allowSubdomains === input.allow_subdomains) return {};
    return commit(1, () => doChangeDomain(realm, domains, domain, input.allow_subdomains));
  },
});
