/** The CDK app, as `cdk.json` starts it: builds every function, then synthesizes the one stack. */
import { buildFunctions } from './build.ts';
import { synthesize } from './synthesize.ts';

const { bundles } = await buildFunctions();
synthesize(bundles, { validate: true });
