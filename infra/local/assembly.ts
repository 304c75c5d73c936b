import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { CloudFormationTemplate } from './template-values.ts';

/**
 * Builds every function and synthesizes the CDK app, meanwhile leaving this thread free.
 *
 * @param outdir Where the cloud assembly goes; what was there is removed.
 * @param context Values of CDK context: what the operator sets.
 * @returns The template, as `cdk deploy` would hand it to CloudFormation.
 */
export async function assemble(
  outdir: string,
  context: Readonly<Record<string, string>> = {},
): Promise<CloudFormationTemplate> {
  await rm(outdir, { recursive: true, force: true });
  const thread = new Worker(new URL('./assembly-thread.ts', import.meta.url), {
    workerData: { outdir, context },
  });
  const [template] = await once(thread, 'message');
  await thread.terminate();
  return template;
}
