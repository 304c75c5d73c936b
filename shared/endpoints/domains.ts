import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, text } from './parameter.ts';

const source = 'specification 4.6, wire facts 8';
const domain = text('The domain, as it is listed.');
const allowSubdomains = boolean('Whether addresses in its subdomains are allowed too.');

export const listDomains = endpoint({
  id: 'domains.list',
  method: 'GET',
  path: '/api/v1/realm/domains',
  source,
  description: 'Lists the domains in which new people may have their addresses, where that is restricted.',
  access: 'user',
  parameters: {},
  reply: z.object({
    domains: z.array(z.object({ domain: z.string(), allow_subdomains: z.boolean() })),
  }),
  errors: [],
  needs: { table: reads },
});

export const addDomain = endpoint({
  id: 'domains.add',
  method: 'POST',
  path: '/api/v1/realm/domains',
  source,
  description: 'Allows a domain. The reply has its number and its name in lower case.',
  access: 'owner',
  parameters: {
    domain: text('The domain, in any case, with any letters.'),
    allow_subdomains: allowSubdomains,
  },
  reply: z.object({ new_domain: z.tuple([z.int(), z.string()]) }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const updateDomain = endpoint({
  id: 'domains.update',
  method: 'PATCH',
  path: '/api/v1/realm/domains/{domain}',
  source,
  description: 'Says of an allowed domain whether its subdomains are allowed too.',
  access: 'owner',
  parameters: { domain, allow_subdomains: allowSubdomains },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const removeDomain = endpoint({
  id: 'domains.remove',
  method: 'DELETE',
  path: '/api/v1/realm/domains/{domain}',
  source,
  description: 'Removes an allowed domain. Without any domain, addresses are not restricted any more.',
  access: 'owner',
  parameters: { domain },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});
