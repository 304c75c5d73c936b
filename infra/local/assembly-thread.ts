/** Builds the functions and synthesizes the stack in a thread of its own, whose memory goes with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { buildFunctions } from '../build.ts';
import { type SynthesizeOptions, stackId, synthesize } from '../synthesize.ts';

const { bundles } = await buildFunctions();
const options: Pick<SynthesizeOptions, 'outdir' | 'context'> = workerData;
const assembly = synthesize(bundles, options);
parentPort?.postMessage(assembly.getStackArtifact(stackId).template);
