/** Builds the functions and synthesizes the stack in a thread of its own, whose memory goes with it. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { type Bundle, buildFunctions } from '../build.ts';
import { placeFolder } from '../place-files.ts';
import { placeBundles, type SynthesizeOptions, stackId, synthesize } from '../synthesize.ts';

// esbuild works once and ends. Collecting its garbage would take a third of its time, and not much less memory is in use at the end.
Object.assign(process.env, { GOGC: 'off', GOMEMLIMIT: '2GiB' });

const { bundles } = await buildFunctions();
const options: { readonly outdir: string } & Pick<SynthesizeOptions, 'context'> = workerData;
await placeBundles(bundles, options.outdir);
const { directory } = bundles[eventListener.id] as Bundle;
await placeFolder(directory, join(options.outdir, eventListener.id));
const assembly = synthesize(bundles, options);
parentPort?.postMessage(assembly.getStackArtifact(stackId).templateFile);
