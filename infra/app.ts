/** The CDK app, as `cdk.json` starts it: builds every function, then synthesizes the one stack. */
import { buildFunctions } from './build.ts';
import { lambdaMachine, thisMachine } from './native-packages.ts';
import { synthesize } from './synthesize.ts';

// What only looks at the template, as the tests do, needs neither machine code for Lambda nor source maps.
const isToRun = process.env.MACHINE !== 'this';
const machine = isToRun ? lambdaMachine : thisMachine;
const { bundles } = await buildFunctions({ machine, sourceMaps: isToRun });
synthesize(bundles, { validate: true });
