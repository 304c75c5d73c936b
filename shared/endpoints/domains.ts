import * as z from 'zod/mini';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { boolean, text } from './parameter.ts';

const source = 'specification 4.6, wire facts 8';
const domain = text('The domain, as listed.');
const allowSubdomains = boolean('Whether addresses in its subdomains are allowed too.');

export const listDomains = endpoint({
  id: 'domains.list',
  route: 'GET /api/v1/realm/domains',
  source,
  description: 'Lists the allowed domains for email addresses of new users.',
  access: 'user',
  reply: z.object({
    domains: z.array(z.object({ domain: z.string(), allow_subdomains: z.boolean() })),
  }),
  needs: { table: readsItems },
});

export const addDomain = endpoint({
  id: 'domains.add',
  route: 'POST /api/v1/realm/domains',
  source,
  description: 'Adds an allowed domain. The reply has its ID, and its name in lower case.',
  access: 'owner',
  parameters: {
    domain: text('The domain, in any case. It may have letters beyond ASCII.'),
    allow_subdomains: allowSubdomains,
  },
  reply: z.object({ new_domain: z.tuple([z.int(), z.string()]) }),
  needs: { table: writes },
});

export const updateDomain = endpoint({
  id: 'domains.update',
  route: 'PATCH /api/v1/realm/domains/{domain}',
  source,
  description: 'Updates an allowed domain.',
  access: 'owner',
  parameters: { domain, allow_subdomains: allowSubdomains },
  needs: { table: writes },
});

export const removeDomain = endpoint({
  id: 'domains.remove',
  route: 'DELETE /api/v1/realm/domains/{domain}',
  source,
  description: 'Removes an allowed domain. If none is left, email addresses are not restricted.',
  access: 'owner',
  parameters: { domain },
  needs: { table: writes },
});
