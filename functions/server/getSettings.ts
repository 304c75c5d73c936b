import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { serverSettings } from '../../shared/domain/realm-edit/server-settings.ts';
import { getServerSettings } from '../../shared/endpoints/server.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(getServerSettings, async ({ host, outside, ...asking }) =>
  serverSettings(await accessOrganization(outside, host), asking, outside.environment),
);
