import { getOpenApi } from '../../shared/endpoints/server.ts';
import { openApiText } from '../../shared/openapi/document-text.ts';
import { serveDocument } from '../../shared/serve/serve.ts';

export const handler = serveDocument(getOpenApi, openApiText);
