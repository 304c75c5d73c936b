import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { type BuildOptions, build as esbuild, type Metafile, type Plugin } from 'esbuild';

/** What nearly every function has, and what consists of hundreds of modules. */
const PREPARED = /^(?:@aws-sdk|@smithy|@middy)\/|^zod(?:\/|$)/;

/** An import or export of values from another module, as our formatter writes it. */
const IMPORT = /^(?:import|export) (?!type )([^;'"]+) from '([^'.][^']*)';$/gm;

/** What an import of a namespace names: `* as z`. */
const NAMESPACE = /^\* as (\w+)$/;

/** The plugin's name and its namespace: `prepared:zod/mini.mjs` is a module. */
const NAME = 'prepared';
const ENTRY = 'entry';

/** The names that modules use, by the package (or its part) that they import them from. */
type Names = ReadonlyMap<string, ReadonlySet<string>>;

/** The prepared modules, by their paths, and what esbuild says about the modules that they were made from. */
interface Prepared {
  readonly modules: ReadonlyMap<string, string>;
  readonly inputs: Metafile['inputs'];
}

export interface Preparation {
  /** Gives functions the prepared modules in place of those of the packages. */
  readonly plugin: Plugin;
  readonly done: Promise<Prepared>;
}

/**
 * Prepares packages for the bundles of many functions, while these are read. For each bundle, esbuild links all modules that
 * the function can reach, used or not: some 640 of packages and 60 of ours. So the packages' modules are joined once, to about a
 * dozen that still have each constant and function in a statement of its own. Each bundle takes from these what it uses.
 *
 * @param folders Where the modules are that import packages.
 * @param options How functions are bundled, with the plugins that change packages.
 */
export function preparePackages(folders: readonly string[], options: BuildOptions): Preparation {
  const files = folders.flatMap(modulesIn);
  const names = namesIn(files.map((file) => readFileSync(file, 'utf8')));
  const done = prepare(names, options);
  return { plugin: usePrepared(names, done), done };
}

async function prepare(names: Names, options: BuildOptions): Promise<Prepared> {
  const outdir = join(options.absWorkingDir ?? '', NAME);
  const { outputFiles, metafile } = await esbuild({
    ...options,
    banner: {},
    minify: false,
    splitting: true,
    entryPoints: [...names.keys()].map((name) => ({ in: `${ENTRY}:${name}`, out: name })),
    outdir,
    metafile: true,
    write: false,
    plugins: [onlyTheseNames(names), ...(options.plugins ?? [])],
  });
  const modules = outputFiles.map(({ path, text }): [string, string] => [
    relative(outdir, path).replaceAll(sep, '/'),
    text,
  ]);
  return { modules: new Map(modules), inputs: metafile.inputs };
}

const modulesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

/** What modules import from the packages that are prepared. */
export function namesIn(sources: readonly string[]): Names {
  const names = new Map<string, Set<string>>();
  for (const source of sources) {
    for (const [, wanted = '', from = ''] of source.matchAll(IMPORT)) {
      if (!PREPARED.test(from)) continue;
      const found = names.get(from) ?? new Set();
      for (const name of namesOf(wanted, source)) found.add(name);
      names.set(from, found);
    }
  }
  return names;
}

/** The names in an import: a default, a list in braces, or a namespace whose properties the module uses. */
function namesOf(wanted: string, source: string): string[] {
  const namespace = NAMESPACE.exec(wanted)?.[1];
  if (namespace !== undefined) {
    // `z.core.$ZodType` is a type. As a value, `z.core` would be the whole package.
    const uses = source.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)\\b(?!\\.)`, 'g'));
    return [...uses].map(([, name = '']) => name);
  }
  const [byDefault = '', list = ''] = wanted.split(/[{}]/);
  const listed = list.split(',').map((it) => it.trim().replace(/ as .+/, ''));
  return [byDefault.trim() && 'default', ...listed].filter((it) => it !== '' && !it.startsWith('type '));
}

/** Makes an entry of each package, with the names that are used and no other. */
const onlyTheseNames = (names: Names): Plugin => ({
  name: 'only-these-names',
  setup(build) {
    const { absWorkingDir: resolveDir = '' } = build.initialOptions;
    build.onResolve({ filter: new RegExp(`^${ENTRY}:`) }, ({ path }) => ({
      path: path.slice(ENTRY.length + 1),
      namespace: ENTRY,
    }));
    // In TypeScript a name may be that of a type, and is then left out.
    build.onLoad({ filter: /^/, namespace: ENTRY }, ({ path }) => ({
      contents: `export { ${[...(names.get(path) ?? [])].join(', ')} } from '${path}';`,
      loader: 'ts',
      resolveDir,
    }));
  },
});

const usePrepared = (names: Names, done: Promise<Prepared>): Plugin => ({
  name: NAME,
  setup(build) {
    // The packages have no side effects, or say which few of their modules do; those are joined with what they prepare.
    const module = (path: string) => ({ path, namespace: NAME, sideEffects: false });
    build.onResolve({ filter: PREPARED }, ({ path, kind, importer }) => {
      const isOurs = kind === 'import-statement' && !/[\\/]node_modules[\\/]/.test(importer);
      return isOurs && names.has(path) ? module(`${path}.mjs`) : undefined;
    });
    build.onResolve({ filter: /^\.\.?\//, namespace: NAME }, ({ path, importer }) =>
      module(posix.join(posix.dirname(importer), path)),
    );
    build.onLoad({ filter: /^/, namespace: NAME }, async ({ path }) => ({
      contents: (await done).modules.get(path) ?? '',
    }));
  },
});
