import { join } from 'node:path';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { Served } from '../../shared/serve/serve.ts';

/** The real handler of every endpoint, by id. */
export const handlers: ReadonlyMap<string, Served> = new Map(
  await Promise.all(
    endpoints.map(async ({ id }) => {
      const file = join(import.meta.dirname, '../../functions', `${id.replace('.', '/')}.ts`);
      const module: { handler: Served } = await import(file);
      return [id, module.handler] as const;
    }),
  ),
);
