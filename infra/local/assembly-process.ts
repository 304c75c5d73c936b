/**
 * Builds the functions and synthesizes the stack in a process of its own, whose memory goes with it. Gets `AssemblyOptions` as an
 * argument, and sends `AssemblyNews` to the process that started it.
 */
import { join } from 'node:path';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { type Bundle, buildFunctions } from '../build.ts';
import { placeFolder } from '../place-files.ts';
import type { AssemblyNews, AssemblyOptions } from './assembly.ts';

// Also after `kill -9` of the process that started it: nobody waits for the assembly any more.
process.on('disconnect', () => process.exit(1));
if (!process.connected) process.exit(1);

// esbuild works once and ends. Collecting its garbage would take a third of its time, and not much less memory is in use at the end.
Object.assign(process.env, { GOGC: 'off', GOMEMLIMIT: '2GiB' });

const options: AssemblyOptions = JSON.parse(process.argv[2] ?? '');
// The CDK takes half a second to load, in which esbuild is at work.
const loadCdk = () => import('../synthesize.ts');
const { bundles } = await buildFunctions({ onceRead: loadCdk });
send({ isBuilt: true });
const { placeBundles, stackId, synthesize } = await loadCdk();
await placeBundles(bundles, options.outdir);
const { directory } = bundles[eventListener.id] as Bundle;
await placeFolder(directory, join(options.outdir, eventListener.id));
const assembly = synthesize(bundles, options);
send({ template: assembly.getStackArtifact(stackId).templateFile }, () => process.exit(0));

function send(news: AssemblyNews, then: () => void = () => {}): void {
  process.send?.(news, then);
}
