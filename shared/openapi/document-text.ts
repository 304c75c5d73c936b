import { openApiDocument } from './document.ts';

/**
 * The OpenAPI document as it is served. In a bundle its place is taken by the finished text
 * (`infra/openapi-bundle.ts`): no function carries the declarations of all others.
 */
export const openApiText = (): string => JSON.stringify(openApiDocument());
