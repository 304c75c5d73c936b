import { checkNewDomain, doAddDomain } from '../../shared/domain/realm-edit/domains.ts';
import { addDomain } from '../../shared/endpoints/domains.ts';
import { loadDomains } from '../../shared/model/realm/domains.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(addDomain, {
  load: ({ realm, outside }) => loadDomains(outside.table, realm),
  reserve: 1,
  run: async ({ input, realm, commit }, domains) => {
    const domain = checkNewDomain(input.domain, domains);
    const { id } = await commit(1, ([number = 0]) =>
      doAddDomain(realm, domains, { id: number, domain, allowSubdomains: input.allow_subdomains }),
    );
    return { new_domain: [id, domain] as [number, string] };
  },
});
