import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Page } from '../../infra/local/gateway.ts';
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts';
import { fixtures, type Sample, sampleTemplate } from './sample-template.ts';

/** A local cloud of a test, and its reports to the operator. */
export interface SampleCloud extends LocalCloud {
  readonly lines: readonly string[];
  readonly dataDirectory: string;
}

export const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'parlance-'));

/**
 * Starts a local cloud on a sample template and the store of the test run.
 *
 * @param dataDirectory The folder of an earlier one, to go on from there; otherwise a new one.
 * @param page What answers where the API has no address, if anything does.
 */
export async function startSampleCloud(
  sample: Sample,
  dataDirectory?: string,
  page?: Page,
): Promise<SampleCloud> {
  const folder = dataDirectory ?? (await temporaryFolder());
  const lines: string[] = [];
  const cloud = await startLocalCloud({
    template: sampleTemplate(sample),
    assembly: fixtures,
    dataDirectory: folder,
    dynamodb: new URL(inject('dynamodb')),
    port: 0,
    concurrency: 50,
    ...(page && { page }),
    showLogs: false,
    report: (line) => lines.push(line),
  });
  return { ...cloud, lines, dataDirectory: folder };
}

/** Stops a cloud and removes what it kept. */
export async function discard(cloud: SampleCloud): Promise<void> {
  await cloud.stop();
  await rm(cloud.dataDirectory, { recursive: true, force: true });
}
