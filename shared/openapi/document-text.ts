import { openApiDocument } from './document.ts';

/**
 * The text of the OpenAPI document. In a bundle, `infra/openapi-bundle.ts` replaces this file with the finished text, so no
 * function contains the declarations of all others.
 */
export const openApiText = (): string => JSON.stringify(openApiDocument());
