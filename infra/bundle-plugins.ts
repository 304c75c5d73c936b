import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** Stands in for a class that is never used. It throws if it is used after all. */
const absent = (name: string, method = 'constructor'): string =>
  `export class ${name} { ${method}() { throw new Error('${name} is not part of this bundle.'); } }`;

/**
 * The endpoints of DynamoDB and SQS, without the general rules and their interpreter (16 KB). Account-based endpoints are
 * left out, since Lambda's environment does not have the account id.
 */
const addressOf = (service: 'dynamodb' | 'sqs'): string => `
  import { awsEndpointFunctions } from '@aws-sdk/core/client';
  const urlOf = ({ Endpoint, Region, UseFIPS, UseDualStack }) => {
    if (Endpoint) return Endpoint;
    const { name, dnsSuffix, dualStackDnsSuffix } = awsEndpointFunctions.partition(Region);
    const host = UseFIPS && (UseDualStack || name !== 'aws-us-gov') ? '${service}-fips' : '${service}';
    return 'https://' + host + '.' + Region + '.' + (UseDualStack ? dualStackDnsSuffix : dnsSuffix);
  };
  export const defaultEndpointResolver = (parameters) => ({ url: new URL(urlOf(parameters)), properties: {}, headers: {} });
`;

/** A constant at the top of a formatted module whose value is computed. */
const WORKED_OUT =
  /^((?:export )?(?:const|var) [^=\n]+ = )(?![\d(<'"`/]|async |function)([\s\S]+?);$(?!\n[ )}\]])/gm;

/** The same module with its constants marked as removable if unused. Line numbers stay the same. */
export const withPureConstants = (source: string): string =>
  source.replace(WORKED_OUT, '$1/* @__PURE__ */ (() => ($2))();');

/**
 * Modules of the AWS clients that no function can reach, and what stands in a bundle for each: a whole module of ours.
 * The text of a package is never edited. Sizes are those by which a function would be larger, minified.
 */
export const replacements: Readonly<Record<string, string>> = {
  // Lambda hands credentials to a function in its environment. The default chain also knows files, single sign-on and
  // container hosts (146 KB).
  '@aws-sdk/credential-provider-node/dist-es/index.js':
    "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
  // DynamoDB's client sets up the discovery of endpoints, but none of its commands uses it (8.5 KB).
  '@aws-sdk/middleware-endpoint-discovery/dist-es/index.js': `
    const unset = () => undefined;
    export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: unset, configFileSelector: unset };
    export const resolveEndpointDiscoveryConfig = (config) => config;
  `,
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js': addressOf('dynamodb'),
  '@aws-sdk/client-sqs/dist-es/endpoint/endpointResolver.js': addressOf('sqs'),
  // For platforms whose own cryptography lacks SHA-256 or MD5 (3.2 KB, 1.4 KB).
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js': absent('Sha256Js'),
  '@smithy/core/dist-es/submodules/checksum/md5/Md5Js.js': absent('Md5Js'),
  // For AWS_RETRY_MODE=adaptive: a client that slows itself down, where a request should fail soon (3.3 KB).
  '@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js':
    absent('AdaptiveRetryStrategy'),
  // Signs the events of a stream (2.5 KB).
  '@smithy/signature-v4/dist-es/HeaderFormatter.js': absent('HeaderFormatter', 'format'),
  // A function has no `.aws` folder. Without the search for it the first request is faster, and on a laptop the
  // developer's settings do not leak into the local cloud (2.1 KB).
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js': `
    export { CONFIG_PREFIX_SEPARATOR } from './constants';
    export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
  `,
  // Asks the host of an EC2 machine for its region; Lambda has it in the environment (1.4 KB).
  '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js':
    'export const getInstanceMetadataRegion = async () => undefined;',
};

/** A file filter for the path, as esbuild wants it. */
const endingIn = (path: string): RegExp =>
  new RegExp(`[\\\\/]${path.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]')}$`);

const leanPackages: Plugin = {
  name: 'lean-packages',
  setup(build) {
    for (const [module, contents] of Object.entries(replacements)) {
      build.onLoad({ filter: endingIn(join('node_modules', module)) }, () => ({ contents, loader: 'js' }));
    }
    // Of a client's manifest only the version is read, for the `User-Agent` (2.4 KB each).
    build.onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/ }, async ({ path }) => ({
      contents: JSON.stringify({ version: JSON.parse(await readFile(path, 'utf8')).version }),
      loader: 'json',
    }));
  },
};

/**
 * The clients load event streams when an operation answers with one. No operation that we call does, so 18 KB
 * stay out. S3's client imports the same module for its set-up, statically: that import is left alone.
 */
const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup(build) {
    build.onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'none', namespace: 'event-streams' } : undefined,
    );
    build.onLoad({ filter: /^none$/, namespace: 'event-streams' }, () => ({
      contents: "throw new Error('Event streams are not part of this bundle.');",
    }));
  },
};

/**
 * Gives a function only the declarations that it needs. Modules of ours do nothing at their top but make constants,
 * and making them does nothing else. esbuild cannot know that of a declaration, which calls functions of other
 * modules, and would put all endpoints of an area into each function of that area (3 to 12 KB).
 */
const onlyNeededDeclarations: Plugin = {
  name: 'only-needed-declarations',
  setup(build) {
    build.onLoad(
      { filter: /[\\/]shared[\\/](?:kernel|model|domain|endpoints)[\\/].+\.ts$/ },
      async ({ path }) => ({
        contents: withPureConstants(await readFile(path, 'utf8')),
        loader: 'ts',
      }),
    );
  },
};

/** What keeps every function's bundle small. */
export const leanBundles: Plugin[] = [leanPackages, noEventStreams, onlyNeededDeclarations];
