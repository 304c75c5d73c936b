import { createHash, randomUUID } from 'node:crypto';
import { type Dirent, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions as EsbuildOptions, build as esbuild, type Metafile } from 'esbuild';
import { everyEndpoint } from '../shared/endpoints/all.ts';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import { type Listener, listenersFor } from '../shared/endpoints/listener.ts';
import { workers as everyWorker, type Worker } from '../shared/endpoints/workers.ts';
import { leanBundles } from './bundle-plugins.ts';
import { filesBeside, markdownBundle } from './markdown-bundle.ts';
import { type Machine, nativePackages, nativeVersion, placePackage, thisMachine } from './native-packages.ts';
import { openApiBundle } from './openapi-bundle.ts';
import { preparePackages } from './prepared-packages.ts';
import { placeReference, referenceModule } from './reference-files.ts';
import { digestOf } from './source-digest.ts';

const projectRoot = resolve(import.meta.dirname, '..');

/** A function that is ready to deploy: a folder with `index.mjs`, and what it loads from files beside it. */
export interface Bundle {
  /** Absolute path of the folder. */
  readonly directory: string;
  /** Size of the code, minified. */
  readonly bytes: number;
  /** Digest of everything that is deployed. */
  readonly hash: string;
  /** Digest of the code alone, the same on every machine. Log lines have it, to show which code wrote them. */
  readonly code: string;
}

/** Every function's bundle, by the id of its endpoint, listener or worker. */
export type Bundles = Readonly<Record<string, Bundle>>;

export interface BuildOptions {
  readonly endpoints?: readonly Pick<Endpoint, 'id'>[];
  /** By default those whose endpoints are built. */
  readonly listeners?: readonly Pick<Listener, 'id'>[];
  readonly workers?: readonly Pick<Worker, 'id'>[];
  /** The folder that holds `area/verb.ts` and `workers/name.ts`. */
  readonly sources?: string;
  /** Where the bundles go; its contents belong to the build. */
  readonly outdir?: string;
  /** What the functions will run on; this machine unless said otherwise. */
  readonly machine?: Machine;
  /** Whether to make source maps. Needed for what is deployed; takes a fifth of the time. Default: no. */
  readonly sourceMaps?: boolean;
  /** Called when esbuild has read everything, and needs nothing from this thread for seconds. */
  readonly onceRead?: () => unknown;
}

export interface Build {
  readonly bundles: Bundles;
  /** The sources were those of the last build, so nothing was done. */
  readonly unchanged: boolean;
}

/** The source file of a function: the id of an endpoint or a listener is `area.verb`, a worker's has no dot. */
const sourceOf = (sources: string, id: string): string => {
  const [area, verb] = id.includes('.') ? id.split('.') : ['workers', id];
  return join(sources, area ?? '', `${verb}.ts`);
};

/**
 * Everything but the functions that a bundle is made from. Dependencies count through the lock file. The package says that
 * our modules have no side effects, so esbuild leaves out those that nothing uses.
 */
const recipe = [
  'shared',
  'package.json',
  'package-lock.json',
  'infra/build.ts',
  'infra/bundle-plugins.ts',
  'infra/markdown-bundle.ts',
  'infra/native-packages.ts',
  'infra/openapi-bundle.ts',
  'infra/place-files.ts',
  'infra/prepared-packages.ts',
  'infra/reference-files.ts',
].map((path) => join(projectRoot, path));

interface BuildRecord {
  readonly digest: string;
  readonly sourceMaps: boolean;
  readonly bundles: Readonly<Record<string, Pick<Bundle, 'bytes' | 'hash' | 'code'>>>;
}

/** The record of the last build, if it had the same sources and its output is still there. */
const lastBuild = async (
  outdir: string,
  digest: string,
  sourceMaps: boolean,
): Promise<BuildRecord | undefined> => {
  const file = join(outdir, 'build.json');
  if (!existsSync(file)) return undefined;
  const record: BuildRecord = JSON.parse(await readFile(file, 'utf8'));
  const complete = Object.keys(record.bundles).every((id) => existsSync(join(outdir, id, 'index.mjs')));
  return record.digest === digest && complete && (record.sourceMaps || !sourceMaps) ? record : undefined;
};

/** The options of every bundle: of functions, and of bundles that they are compared with. */
export const bundling = {
  absWorkingDir: projectRoot,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // A bundled CommonJS module may ask for a Node module, and an ESM bundle has no `require` of its own.
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
} as const satisfies EsbuildOptions;

/**
 * One call of esbuild for all functions: they share most of their modules, which are then read and parsed once. Each bundle is
 * linked by itself, so the modules of packages are joined before.
 * Nothing that can be bundled is external, so that a function does not depend on the SDK that Lambda happens to carry.
 * esbuild writes the files itself, `<outdir>/<id>.mjs`: they would take half a second on their way here.
 */
const bundle = async (
  ids: readonly string[],
  sources: string,
  outdir: string,
  sourceMaps: boolean,
  onceRead: (() => unknown) | undefined,
): Promise<Metafile> => {
  const packages = preparePackages([sources, join(projectRoot, 'shared')], {
    ...bundling,
    sourcemap: sourceMaps && 'inline',
    sourcesContent: false,
    plugins: leanBundles,
  });
  const functions = esbuild({
    ...bundling,
    entryPoints: ids.map((id) => ({ in: sourceOf(sources, id), out: id })),
    outdir,
    external: [...nativePackages],
    sourcemap: sourceMaps && 'external',
    // A stack trace needs the places only; the text is in the repository.
    sourcesContent: false,
    metafile: true,
    plugins: [packages.plugin, ...leanBundles, markdownBundle(), openApiBundle()],
    // A prepared module imports another for a name that this function does not use.
    logOverride: { 'ignored-bare-import': 'silent', 'import-is-undefined': 'error' },
  });
  packages.done.then(onceRead, () => {});
  const [{ metafile }, { inputs }] = await Promise.all([functions, packages.done]);
  return { inputs: { ...metafile.inputs, ...inputs }, outputs: metafile.outputs };
};

/** A file that functions load when they need it: its name and its code. */
type Loadable = readonly [file: string, code: Uint8Array];

const bundleBeside = async ([file, contents]: readonly [string, string]): Promise<Loadable> => {
  const { outputFiles } = await esbuild({
    ...bundling,
    banner: {},
    stdin: { contents, resolveDir: projectRoot },
    write: false,
  });
  return [file, outputFiles[0]?.contents ?? new Uint8Array()];
};

const DRAFT = '.draft';
/** A draft that is older than this (ms) was left by a build that was stopped. */
const DRAFT_AGE = 600_000;
/** A place for what is not complete yet. It is outside the functions' folders, since everything in them is deployed. */
const newDraft = (outdir: string): string => join(outdir, `${randomUUID()}${DRAFT}`);

/** Writes a file atomically: another process may be reading it, or building the same thing. */
const write = async (outdir: string, path: string, contents: string | Uint8Array): Promise<void> => {
  const draft = newDraft(outdir);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, contents);
  await rename(draft, path);
};

/**
 * Removes leftovers of earlier builds: functions that are no longer declared, source maps of other code, and drafts of builds that were
 * stopped.
 */
const removeOthers = async (outdir: string, ids: readonly string[]): Promise<void> => {
  const remove = (name: string) => rm(join(outdir, name), { recursive: true, force: true });
  const isOld = async (name: string) => Date.now() - (await stat(join(outdir, name))).mtimeMs > DRAFT_AGE;
  const isOther = async (entry: Dirent): Promise<boolean> => {
    // Another build may put its draft in place meanwhile.
    if (entry.name.endsWith(DRAFT)) return isOld(entry.name).catch(() => false);
    return entry.isDirectory() && entry.name !== 'packages' && !ids.includes(entry.name);
  };
  const entries = await readdir(outdir, { withFileTypes: true });
  await Promise.all(entries.map(async (entry) => (await isOther(entry)) && remove(entry.name)));
};

/** Moves what esbuild made to its place: code into the functions' folders, source maps elsewhere, since they are not deployed. */
const moveBundle = async (draft: string, outdir: string, id: string, sourceMaps: boolean): Promise<void> => {
  await mkdir(join(outdir, id), { recursive: true });
  await rename(join(draft, `${id}.mjs`), join(outdir, id, 'index.mjs'));
  if (sourceMaps) await rename(join(draft, `${id}.mjs.map`), join(outdir, 'maps', `${id}.mjs.map`));
};

/** Puts into a function's folder what its bundle loads from there. Returns what says which versions these are. */
const placeBeside = async (
  folder: string,
  { imports, inputs }: Metafile['outputs'][string],
  loadable: readonly Loadable[],
  machine: Machine,
): Promise<string> => {
  const isImported = (path: string): boolean => imports.some((it) => it.path === path);
  const loads = loadable.filter(([file]) => isImported(`./${file}`));
  for (const [file, code] of loads) await write(dirname(folder), join(folder, file), code);
  if (referenceModule in inputs) await placeReference(folder);
  const names = nativePackages.filter(isImported);
  for (const name of names) await placePackage(name, machine, folder, join(dirname(folder), 'packages'));
  const native = (await Promise.all(names.map(nativeVersion))).map((it) => `${machine} ${it}`);
  return [...native, ...loads.map(([, code]) => createHash('sha256').update(code).digest('hex'))].join();
};

/**
 * Bundles every function and listener into `<outdir>/<id>/index.mjs` (ESM, minified, for Node 24) and keeps beside them the
 * source maps (`maps/`) on request, esbuild's list of what is in each bundle (`metafile.json`) and the record
 * by which the next call notices that nothing has changed (`build.json`).
 *
 * Throws one sentence naming every declared endpoint or worker whose source file is missing.
 */
export const buildFunctions = async ({
  endpoints = everyEndpoint,
  listeners = listenersFor(endpoints),
  workers = everyWorker,
  sources = join(projectRoot, 'functions'),
  outdir = join(projectRoot, 'dist'),
  machine = thisMachine,
  sourceMaps = false,
  onceRead,
}: BuildOptions = {}): Promise<Build> => {
  const ids = [...endpoints, ...listeners, ...workers].map(({ id }) => id);
  const missing = ids.map((id) => sourceOf(sources, id)).filter((file) => !existsSync(file));
  if (missing.length > 0) {
    throw new Error(`Declared, but not written: ${missing.map((f) => relative(projectRoot, f)).join(', ')}.`);
  }

  const withDirectories = ({ bundles }: BuildRecord): Bundles =>
    Object.fromEntries(
      Object.entries(bundles).map(([id, it]) => [id, { ...it, directory: join(outdir, id) }]),
    );

  const digest = digestOf([sources, ...recipe], [ids, machine]);
  const last = await lastBuild(outdir, digest, sourceMaps);
  if (last) return { bundles: withDirectories(last), unchanged: true };

  const draft = newDraft(outdir);
  try {
    const [metafile, loadable] = await Promise.all([
      bundle(ids, sources, draft, sourceMaps, onceRead),
      Promise.all(Object.entries(filesBeside).map(bundleBeside)),
    ]);
    await removeOthers(outdir, ids);
    if (sourceMaps) await mkdir(join(outdir, 'maps'), { recursive: true });
    const outputs: Metafile['outputs'] = {};
    const finish = async (id: string): Promise<[string, BuildRecord['bundles'][string]]> => {
      const contents = await readFile(join(draft, `${id}.mjs`));
      const output = metafile.outputs[relative(projectRoot, join(draft, `${id}.mjs`))];
      if (!output) throw new Error(`esbuild says nothing about ${id}.`);
      const folder = join(outdir, id);
      outputs[relative(projectRoot, join(folder, 'index.mjs'))] = output;
      await moveBundle(draft, outdir, id, sourceMaps);
      const beside = await placeBeside(folder, output, loadable, machine);
      const code = createHash('sha256').update(contents);
      const hash = code.copy().update(beside).digest('hex');
      return [id, { bytes: contents.length, code: code.digest('hex').slice(0, 12), hash }];
    };
    const bundles = Object.fromEntries(await Promise.all(ids.map(finish)));
    await write(outdir, join(outdir, 'metafile.json'), JSON.stringify({ ...metafile, outputs }));
    const record: BuildRecord = { digest, sourceMaps, bundles };
    await write(outdir, join(outdir, 'build.json'), JSON.stringify(record));
    return { bundles: withDirectories(record), unchanged: false };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};
