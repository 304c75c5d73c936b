/** Builds the functions and synthesizes the stack in a thread of its own, whose memory goes with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { buildFunctions } from '../build.ts';
import { stackName, synthesize } from '../synthesize.ts';

const { bundles } = await buildFunctions();
const { outdir }: { readonly outdir: string } = workerData;
const assembly = synthesize(bundles, { outdir });
parentPort?.postMessage(assembly.getStackByName(stackName).template);
