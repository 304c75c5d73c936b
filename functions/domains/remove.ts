import { accessDomain, doRemoveDomain } from '../../shared/domain/realm-edit/domains.ts';
import { removeDomain } from '../../shared/endpoints/domains.ts';
import { loadDomains } from '../../shared/model/realm/domains.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(removeDomain, {
  load: ({ realm, outside }) => loadDomains(outside.table, realm),
  // Its removal, and that addresses are not restricted any more.
  reserve: 2,
  run: ({ input, caller, realm, commit }, domains) => {
    const change = doRemoveDomain(realm, caller.realm, domains, accessDomain(domains, input.domain));
    return commit(change.entries.length, () => change);
  },
});
