/** Builds the functions and synthesizes the stack in a thread of its own, whose memory goes with it. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { type Bundle, buildFunctions } from '../build.ts';
import { placeFolder } from '../place-files.ts';
import { placeBundles, type SynthesizeOptions, stackId, synthesize } from '../synthesize.ts';

const { bundles } = await buildFunctions();
const options: { readonly outdir: string } & Pick<SynthesizeOptions, 'context'> = workerData;
await placeBundles(bundles, options.outdir);
const { directory } = bundles[eventListener.id] as Bundle;
await placeFolder(directory, join(options.outdir, eventListener.id));
const assembly = synthesize(bundles, options);
parentPort?.postMessage(assembly.getStackArtifact(stackId).templateFile);
