/** The CDK app, as `cdk.json` starts it: builds every function, then synthesizes the one stack. */
import { buildFunctions } from './build.ts';
import { lambdaMachine, thisMachine } from './native-packages.ts';
import { synthesize } from './synthesize.ts';

// What only looks at the template, as the tests do, need not fetch machine code for Lambda.
const machine = process.env.MACHINE === 'this' ? thisMachine : lambdaMachine;
const { bundles } = await buildFunctions({ machine, sourceMaps: true });
synthesize(bundles, { validate: true });
