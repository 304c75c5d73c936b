/** Builds the functions and synthesizes the stack in a thread of its own, whose memory goes with it. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { type Bundle, buildFunctions } from '../build.ts';
import { type SynthesizeOptions, stackId, synthesize } from '../synthesize.ts';

const { bundles } = await buildFunctions();
const options: { readonly outdir: string } & Pick<SynthesizeOptions, 'context'> = workerData;
const assembly = synthesize(bundles, options);
const { directory } = bundles[eventListener.id] as Bundle;
await cp(directory, join(options.outdir, eventListener.id), { recursive: true });
parentPort?.postMessage(assembly.getStackArtifact(stackId).templateFile);
