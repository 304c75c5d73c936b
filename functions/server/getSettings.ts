import { loadOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { serverSettings } from '../../shared/domain/realm-edit/server-settings.ts';
import { getServerSettings } from '../../shared/endpoints/server.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(getServerSettings, async ({ host, outside, ...asking }) => {
  const realm = await loadOrganization(outside, host);
  // Elsewhere it is 404 `NONEXISTENT_SUBDOMAIN` (companion facts 3.13).
  if (realm === undefined) throw badRequest('There is no organization at this address.');
  return serverSettings(realm, asking, outside.environment);
});
