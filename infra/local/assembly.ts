import { fork } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { digestOf } from '../source-digest.ts';
import { StartProblem } from './start-problem.ts';
import type { CloudFormationTemplate } from './template-values.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

/** Everything that an assembly is made from. */
const sources = ['functions', 'infra', 'shared', 'package.json', 'package-lock.json'].map((name) =>
  join(projectRoot, name),
);

/** What to assemble: where the cloud assembly goes, and values of CDK context. */
export interface AssemblyOptions {
  readonly outdir: string;
  readonly context: Readonly<Record<string, string>>;
}

/** What is heard of an assembly: that the functions are built, and in the end the name of the template's file. */
export type AssemblyNews = { readonly isBuilt: true } | { readonly template: string };

/** Megabytes of half the young generation of its heap. With the few of the service, a second would go into collecting garbage. */
const youngHeapMb = 64;

/** By what the next start sees that it can take an assembly as it is. It is written last of all. */
interface AssemblyRecord {
  readonly digest: string;
  /** The name of the template's file. */
  readonly template: string;
}

/**
 * Builds every function and synthesizes the CDK app in another process, meanwhile leaving this thread free. Does nothing if the assembly in the
 * folder was made from the same sources and context. The other process is there when this returns its promise, so that it need
 * not wait for what is loaded here next.
 *
 * @param outdir Where the cloud assembly goes; what was there is removed.
 * @param context Values of CDK context: what the operator sets.
 * @param onBuilt Called when the functions are built, and one processor is free again; not if the assembly is there.
 * @returns The template, as `cdk deploy` would hand it to CloudFormation.
 * @throws StartProblem if the other process failed. It has said why.
 */
export async function assemble(
  outdir: string,
  context: Readonly<Record<string, string>> = {},
  onBuilt: () => void = () => {},
): Promise<CloudFormationTemplate> {
  const digest = digestOf(sources, Object.entries(context).sort());
  const recordFile = join(outdir, 'record.json');
  let record = readJson<AssemblyRecord>(recordFile);
  if (record?.digest !== digest) {
    rmSync(outdir, { recursive: true, force: true });
    record = { digest, template: await assembleAside({ outdir, context }, onBuilt) };
    writeFileSync(recordFile, JSON.stringify(record));
  }
  const template = readJson<CloudFormationTemplate>(join(outdir, record.template));
  if (!template) throw new Error(`The assembly in ${outdir} has no template.`);
  return template;
}

/** Assembles in a process that ends with this one. Resolves with the name of the template's file. */
function assembleAside(options: AssemblyOptions, onBuilt: () => void): Promise<string> {
  const child = fork(join(import.meta.dirname, 'assembly-process.ts'), [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning', `--max-semi-space-size=${youngHeapMb}`],
    // A group of its own, as Ctrl-C in a terminal goes to the whole group, and this process says what happens then.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    child.on('message', (news: AssemblyNews) => ('template' in news ? resolve(news.template) : onBuilt()));
    child.once('error', reject);
    child.once('exit', () => reject(new StartProblem('The functions or the template could not be made.')));
  });
}

/** What a JSON file holds; undefined where there is none. */
function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
