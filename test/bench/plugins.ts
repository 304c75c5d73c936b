import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild, type Plugin } from 'esbuild';
import { bundling } from '../../infra/build.ts';
import { leanBundles } from '../../infra/bundle-plugins.ts';
import { markdownBundle } from '../../infra/markdown-bundle.ts';
import { type Import, importOf } from './functions.ts';
import { median } from './latencies.ts';

/** What the import of one function takes when it is bundled in one way. */
export interface PluginRow {
  readonly bundle: string;
  readonly bytes: number;
  /** Medians of the imports in fresh processes, ms: processor time and time. */
  readonly cpuMs: number;
  readonly importMs: number;
}

/** The function that is bundled: it uses the table, S3 and SQS. */
const FUNCTION = 'functions/messages/list.ts';

/** Imports of each. */
const ROUNDS = 25;

const OWN = 'only-needed-declarations';
const without = (isWanted: (plugin: Plugin) => boolean): Plugin[] => leanBundles.filter(isWanted);

/** Ways to bundle it: `infra/bundle-plugins.ts` has the plugins. */
const ways: Readonly<Record<string, Plugin[]>> = {
  'all plugins': leanBundles,
  'every declaration': without(({ name }) => name !== OWN),
  'the packages of AWS as they are': without(({ name }) => name === OWN),
  neither: [],
};

/** Measures what the plugins of bundles save when a function starts. All ways take turns, so that a busy moment meets all. */
export async function measurePlugins(rounds = ROUNDS): Promise<readonly PluginRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-plugins-'));
  try {
    const bundles = await Promise.all(
      Object.entries(ways).map(async ([bundle, plugins], i) => {
        const file = join(folder, String(i), 'index.mjs');
        const { metafile } = await esbuild({
          ...bundling,
          entryPoints: [FUNCTION],
          outfile: file,
          metafile: true,
          plugins: [...plugins, markdownBundle()],
        });
        const bytes = Object.values(metafile.outputs)[0]?.bytes ?? 0;
        return { bundle, file, bytes, imports: [] as Import[] };
      }),
    );
    for (let round = 0; round < rounds; round++) {
      for (const { file, imports } of bundles) imports.push(await importOf(file));
    }
    return bundles.map(({ bundle, bytes, imports }) => ({
      bundle,
      bytes,
      cpuMs: median(imports.map(({ cpuMs }) => cpuMs)),
      importMs: median(imports.map(({ importMs }) => importMs)),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}
