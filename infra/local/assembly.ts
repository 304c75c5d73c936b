import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { digestOf } from '../source-digest.ts';
import type { CloudFormationTemplate } from './template-values.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

/** Everything that an assembly is made from. */
const sources = ['functions', 'infra', 'shared', 'package.json', 'package-lock.json'].map((name) =>
  join(projectRoot, name),
);

/** By what the next start sees that it can take an assembly as it is. It is written last of all. */
interface AssemblyRecord {
  readonly digest: string;
  /** The name of the template's file. */
  readonly template: string;
}

/**
 * Builds every function and synthesizes the CDK app, meanwhile leaving this thread free. Does nothing if the assembly in the
 * folder was made from the same sources and context.
 *
 * @param outdir Where the cloud assembly goes; what was there is removed.
 * @param context Values of CDK context: what the operator sets.
 * @returns The template, as `cdk deploy` would hand it to CloudFormation.
 */
export async function assemble(
  outdir: string,
  context: Readonly<Record<string, string>> = {},
): Promise<CloudFormationTemplate> {
  const digest = digestOf(sources, Object.entries(context).sort());
  const recordFile = join(outdir, 'record.json');
  let record = await readJson<AssemblyRecord>(recordFile);
  if (record?.digest !== digest) {
    await rm(outdir, { recursive: true, force: true });
    const thread = new Worker(new URL('./assembly-thread.ts', import.meta.url), {
      workerData: { outdir, context },
    });
    const [template] = await once(thread, 'message');
    await thread.terminate();
    record = { digest, template };
    await writeFile(recordFile, JSON.stringify(record));
  }
  const template = await readJson<CloudFormationTemplate>(join(outdir, record.template));
  if (!template) throw new Error(`The assembly in ${outdir} has no template.`);
  return template;
}

/** What a JSON file holds; undefined where there is none. */
const readJson = <T>(file: string): Promise<T | undefined> =>
  readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
