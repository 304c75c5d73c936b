import { createHash } from 'node:crypto';
import { extname, join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { everyEndpoint as endpoints } from '../shared/endpoints/all.ts';
import { workers } from '../shared/endpoints/workers.ts';
import type { Bundle, Bundles } from './build.ts';
import { checkContextNames } from './context-names.ts';
import { ParlanceStack, type ParlanceStackProps } from './parlance-stack.ts';
import { placeFolder } from './place-files.ts';

/** The id of the stack, and of its template `Parlance.template.json`. Its name in AWS is a setting. */
export const stackId = 'Parlance';

/**
 * Settings that the CDK's command line would add. They are fixed here, so that every way to
 * synthesize gives the same template. The functions' metadata name the folder of their code, which the local cloud runs.
 */
const context = {
  'aws:cdk:enable-asset-metadata': true,
  'aws:cdk:enable-path-metadata': false,
  // The bucket's policy allows access logs in, and its owner owns every object.
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy': true,
};

export interface SynthesizeOptions extends Partial<Pick<ParlanceStackProps, 'endpoints' | 'workers'>> {
  /** Where the assembly goes. By default where the CDK's command line wants it, or else a temporary folder. */
  readonly outdir?: string;
  /** Whether to check the template against CloudFormation's own schemas, which takes a second. */
  readonly validate?: boolean;
  /** Values of context besides those of `cdk.json` and the command line. */
  readonly context?: Readonly<Record<string, string>>;
}

/** The folder of a bundle in the cloud assembly, as the CDK names it. */
const assetName = ({ directory, hash }: Bundle): string =>
  `asset.${createHash('sha256').update(hash).digest('hex')}${extname(directory)}`;

/** Puts bundles into the cloud assembly of a stack that is synthesized next. The CDK then does not copy them. */
export async function placeBundles(bundles: Bundles, outdir: string): Promise<void> {
  // Functions with the same code share a folder.
  const folders = new Map(Object.values(bundles).map((bundle) => [assetName(bundle), bundle.directory]));
  await Promise.all([...folders].map(([name, directory]) => placeFolder(directory, join(outdir, name))));
}

/** Writes the cloud assembly (template, copied bundles, manifest) of the stack, in this process. */
export const synthesize = (bundles: Bundles, options: SynthesizeOptions = {}): CloudAssembly =>
  makeApp(bundles, options).synth();

/** The CDK app with the one stack in it. */
export const makeApp = (bundles: Bundles, options: SynthesizeOptions = {}): App => {
  const { outdir, validate = false, context: given = {}, ...declarations } = options;
  const app = new App({
    ...(outdir === undefined ? {} : { outdir }),
    analyticsReporting: false,
    treeMetadata: false,
    stackTraces: false,
    builtinCloudFormationValidation: validate,
    postCliContext: { ...context, ...given },
  });
  checkContextNames(app.node);
  new ParlanceStack(app, stackId, { endpoints, workers, ...declarations, bundles });
  return app;
};
