import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { placeFolder } from './place-files.ts';

/** Packages with machine code. They cannot be bundled, and are deployed beside the bundle. */
export const nativePackages: readonly string[] = ['sharp'];

/** A machine that functions run on, as packages name it. */
export type Machine = `${string}-${string}`;

/** What Lambda is (`DeclaredFunction` asks for this architecture). */
export const lambdaMachine: Machine = 'linux-arm64';
/** What runs the local cloud and the tests. */
export const thisMachine: Machine = `${process.platform}-${process.arch}`;

const projectRoot = resolve(import.meta.dirname, '..');

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = async (modules: string, name: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));

/** The version of a native package, so that a bundle beside another version is another bundle. */
export const nativeVersion = async (name: string): Promise<string> =>
  (await manifestOf(join(projectRoot, 'node_modules'), name)).version;

/**
 * Puts a package, all that it depends on, and its machine code for one machine into `<folder>/node_modules`.
 *
 * @param fetched Where packages for another machine than this one are kept once npm has fetched them.
 * @throws Error if they are neither installed nor available from npm
 */
export async function placePackage(
  name: string,
  machine: Machine,
  folder: string,
  fetched: string,
): Promise<void> {
  const installed = join(projectRoot, 'node_modules');
  const modules = (await isFor(installed, name, machine)) ? installed : await fetch(name, machine, fetched);
  const target = join(folder, 'node_modules');
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const part of await partsOf(modules, name, machine)) {
    await placeFolder(join(modules, part), join(target, part));
  }
}

/** The machine's own parts of a package: those that carry its name. */
const machineParts = ({ optionalDependencies = {} }: Manifest, machine: Machine): string[] =>
  Object.keys(optionalDependencies).filter((part) => part.endsWith(`-${machine}`));

async function isFor(modules: string, name: string, machine: Machine): Promise<boolean> {
  const parts = machineParts(await manifestOf(modules, name), machine);
  return parts.length > 0 && parts.every((part) => existsSync(join(modules, part)));
}

/** The package with everything that it needs on this machine, each once. */
async function partsOf(modules: string, name: string, machine: Machine): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const open = [name];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (found.has(part)) continue;
    found.add(part);
    const manifest = await manifestOf(modules, part);
    open.push(...Object.keys(manifest.dependencies ?? {}), ...machineParts(manifest, machine));
  }
  return found;
}

/** Lets npm fetch a package for another machine, once. */
async function fetch(name: string, machine: Machine, fetched: string): Promise<string> {
  const folder = join(fetched, machine);
  const modules = join(folder, 'node_modules');
  const version = await nativeVersion(name);
  if (machineParts(await manifestOf(join(projectRoot, 'node_modules'), name), machine).length === 0) {
    throw new Error(`There is no ${name} ${version} for ${machine}, and a function needs it.`);
  }
  if (existsSync(join(modules, name)) && (await manifestOf(modules, name)).version === version) {
    if (await isFor(modules, name, machine)) return modules;
  }
  const [os, cpu] = machine.split('-');
  await mkdir(folder, { recursive: true });
  const where = ['--prefix', folder, `--os=${os}`, `--cpu=${cpu}`, '--libc=glibc'];
  const quietly = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', ['install', ...where, ...quietly, `${name}@${version}`]);
  } catch (cause) {
    throw new Error(`npm could not fetch ${name} ${version} for ${machine}, which its function needs.`, {
      cause,
    });
  }
  return modules;
}
