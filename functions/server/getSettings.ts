import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { serverSettings } from '../../shared/domain/realm-edit/server-settings.ts';
import { getServerSettings } from '../../shared/endpoints/server.ts';
import { serveAnyone } from '../../shared/serve/serve.ts';

export const handler = serveAnyone(getServerSettings, async ({ host, baseUrl, outside }) =>
  serverSettings(await accessOrganization(outside, host), baseUrl, outside.environment),
);
