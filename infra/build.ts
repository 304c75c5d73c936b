import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions as EsbuildOptions, build as esbuild, type OutputFile } from 'esbuild';
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
 */
const bundle = async (ids: readonly string[], sources: string, outdir: string, sourceMaps: boolean) => {
  const packages = await preparePackages([sources, join(projectRoot, 'shared')], {
    ...bundling,
    sourcemap: sourceMaps && 'inline',
    sourcesContent: false,
    plugins: leanBundles,
  });
  const functions = esbuild({
    ...bundling,
    entryPoints: ids.map((id) => ({ in: sourceOf(sources, id), out: `${id}/index` })),
    outdir,
    external: [...nativePackages],
    sourcemap: sourceMaps && 'external',
    // A stack trace needs the places only; the text is in the repository.
    sourcesContent: false,
    metafile: true,
    write: false,
    plugins: [packages.plugin, ...leanBundles, markdownBundle(), openApiBundle()],
    // A prepared module imports another for a name that this function does not use.
    logOverride: { 'ignored-bare-import': 'silent', 'import-is-undefined': 'error' },
  });
  const [{ outputFiles, metafile }, { inputs }] = await Promise.all([functions, packages.done]);
  return { outputFiles, metafile: { ...metafile, inputs: { ...metafile.inputs, ...inputs } } };
};

/** Code as one file, for the functions that load it when they need it. */
const bundleBeside = async (contents: string): Promise<Uint8Array> => {
  const { outputFiles } = await esbuild({
    ...bundling,
    banner: {},
    stdin: { contents, resolveDir: projectRoot },
    write: false,
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
};

/** Where an output goes: code into the function's folder, source maps elsewhere, since they are not deployed. */
const destination = (outdir: string, file: OutputFile): string =>
  file.path.endsWith('.map')
    ? join(outdir, 'maps', `${relative(outdir, dirname(file.path))}.mjs.map`)
    : file.path;

/**
 * Writes a file atomically: another process may be reading it, or building the same thing. The draft is outside the
 * functions' folders, since everything in them is deployed.
 */
const write = async (outdir: string, path: string, contents: string | Uint8Array): Promise<void> => {
  const draft = join(outdir, `${randomUUID()}.draft`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, contents);
  await rename(draft, path);
};

/** Removes leftovers of earlier builds: functions that are no longer declared, and source maps of other code. */
const removeOthers = async (outdir: string, ids: readonly string[]): Promise<void> => {
  const folders = await readdir(outdir, { withFileTypes: true });
  const stale = folders.filter((it) => it.isDirectory() && it.name !== 'packages' && !ids.includes(it.name));
  await Promise.all(stale.map(({ name }) => rm(join(outdir, name), { recursive: true })));
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

  const digest = await digestOf([sources, ...recipe], [ids, machine]);
  const last = await lastBuild(outdir, digest, sourceMaps);
  if (last) return { bundles: withDirectories(last), unchanged: true };

  const { outputFiles, metafile } = await bundle(ids, sources, outdir, sourceMaps);
  await mkdir(outdir, { recursive: true });
  await removeOthers(outdir, ids);
  await Promise.all(outputFiles.map((file) => write(outdir, destination(outdir, file), file.contents)));
  await write(outdir, join(outdir, 'metafile.json'), JSON.stringify(metafile));

  const code = outputFiles.filter((file) => !file.path.endsWith('.map'));
  const loadable = await Promise.all(
    Object.entries(filesBeside).map(
      async ([file, contents]): Promise<[string, Uint8Array]> => [file, await bundleBeside(contents)],
    ),
  );
  const beside = new Map(
    await Promise.all(
      code.map(async ({ path }): Promise<[string, string]> => {
        const output = metafile.outputs[relative(projectRoot, path)];
        const loads = loadable.filter(([file]) => output?.imports.some((it) => it.path === `./${file}`));
        for (const [file, bytes] of loads) await write(outdir, join(dirname(path), file), bytes);
        const names = nativePackages.filter((name) => output?.imports.some((it) => it.path === name));
        if (output && referenceModule in output.inputs) await placeReference(dirname(path));
        for (const name of names) await placePackage(name, machine, dirname(path), join(outdir, 'packages'));
        const native = (await Promise.all(names.map(nativeVersion))).map((it) => `${machine} ${it}`);
        const digests = loads.map(([, bytes]) => createHash('sha256').update(bytes).digest('hex'));
        return [path, [...native, ...digests].join()];
      }),
    ),
  );
  const record: BuildRecord = {
    digest,
    sourceMaps,
    bundles: Object.fromEntries(
      code.map((file) => [
        relative(outdir, dirname(file.path)),
        {
          bytes: file.contents.length,
          code: createHash('sha256').update(file.contents).digest('hex').slice(0, 12),
          hash: createHash('sha256')
            .update(file.contents)
            .update(beside.get(file.path) ?? '')
            .digest('hex'),
        },
      ]),
    ),
  };
  await write(outdir, join(outdir, 'build.json'), JSON.stringify(record));
  return { bundles: withDirectories(record), unchanged: false };
};
