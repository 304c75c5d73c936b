import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A module of a package that is not what it was when it reaches a bundle. */
export interface Cut {
  /** The module, below `node_modules`. */
  readonly module: string;
  /** Makes what the bundle gets from what the package brings. */
  readonly change: (source: string) => string;
}

/** A stand-in for a class that nothing ever asks for; it says so, should that turn out to be wrong. */
const absent =
  (name: string, method = 'constructor') =>
  (): string =>
    `export class ${name} { ${method}() { throw new Error('${name} is not part of this bundle.'); } }`;

/** A constant at the top of a formatted module whose value has to be worked out. */
const WORKED_OUT =
  /^((?:export )?(?:const|var) [^=\n]+ = )(?![\d(<'"`/]|async |function)([\s\S]+?);$(?!\n[ )}\]])/gm;

/** The same module, its constants marked as free to go where nothing uses them. Lines stay where they are. */
export const withPureConstants = (source: string): string =>
  source.replace(WORKED_OUT, '$1/* @__PURE__ */ (() => ($2))();');

/**
 * What the AWS clients bring along that no function of ours can reach (together 230 KB of each one that uses the
 * table). The sizes are those that the function would be larger by, minified.
 */
export const cuts: readonly Cut[] = [
  {
    // Lambda hands credentials to a function in its environment. The default chain also knows files, single sign-on
    // and container hosts (146 KB).
    module: '@aws-sdk/credential-provider-node/dist-es/index.js',
    change: () => "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
  },
  // What the operations, types and errors of these services are like. Our own protocol asks only for the operations'
  // names (18 KB, 20 KB).
  ...['dynamodb', 'sqs'].map((service) => ({
    module: `@aws-sdk/client-${service}/dist-es/schemas/schemas_0.js`,
    change: (source: string) =>
      [...source.matchAll(/^export var (\w+)\$ = \[9,/gm)]
        .map(
          ([, name]) =>
            `export const ${name}$ = [9, 'com.amazonaws.${service}', '${name}', 0, 'unit', 'unit'];`,
        )
        .join('\n'),
  })),
  // The client's own protocol, which is there in case none is given to it: ours is (`shared/aws/json-protocol.ts`;
  // 35 KB).
  ...['dynamodb', 'sqs'].map((service) => ({
    module: `@aws-sdk/client-${service}/dist-es/runtimeConfig.shared.js`,
    change: (source: string) =>
      source
        .replace(/^import \{ (?:DynamoDBJsonCodec2|errorTypeRegistries) \} from .*\n/gm, '')
        .replace(/^import \{ AwsJson1_0Protocol \} from .*$/m, absent('AwsJson1_0Protocol'))
        .replace(/protocolSettings \?\? \{[^}]*\}/, 'protocolSettings ?? {}'),
  })),
  // The errors of these services, which arrive just the same with their name, message and fields, but as the service's
  // general class: so ask for `name`, never for `instanceof` (18 KB, 4.5 KB).
  ...['kms', 'secrets-manager'].map((service) => ({
    module: `@aws-sdk/client-${service}/dist-es/schemas/schemas_0.js`,
    change: (source: string) => source.replace(/^n0_registry\.registerError\(.*$/gm, ''),
  })),
  {
    // DynamoDB's client sets up the discovery of endpoints, but none of its commands uses it (8.5 KB).
    module: '@aws-sdk/middleware-endpoint-discovery/dist-es/index.js',
    change: () => `
      const unset = () => undefined;
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: unset, configFileSelector: unset };
      export const resolveEndpointDiscoveryConfig = (config) => config;
    `,
  },
  {
    // Where DynamoDB is, without the general rules and their interpreter. Account-based addresses are left out, since
    // Lambda's environment does not tell the account (11 KB).
    module: '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
    change: () => `
      import { awsEndpointFunctions } from '@aws-sdk/core/client';
      const urlOf = ({ Endpoint, Region, UseFIPS, UseDualStack }) => {
        if (Endpoint) return Endpoint;
        const { name, dnsSuffix, dualStackDnsSuffix } = awsEndpointFunctions.partition(Region);
        const host = UseFIPS && (UseDualStack || name !== 'aws-us-gov') ? 'dynamodb-fips' : 'dynamodb';
        return 'https://' + host + '.' + Region + '.' + (UseDualStack ? dualStackDnsSuffix : dnsSuffix);
      };
      export const defaultEndpointResolver = (parameters) => ({ url: new URL(urlOf(parameters)), properties: {}, headers: {} });
    `,
  },
  {
    // S3's client describes its hundred operations in one module; only those in use stay (59 KB of such a function).
    module: '@aws-sdk/client-s3/dist-es/schemas/schemas_0.js',
    change: (source) => withPureConstants(source),
  },
  {
    // For platforms whose own cryptography lacks SHA-256 (3.2 KB).
    module: '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js',
    change: absent('Sha256Js'),
  },
  {
    // For AWS_RETRY_MODE=adaptive: a client that slows itself down, where a request should fail soon (3.3 KB).
    module: '@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js',
    change: absent('AdaptiveRetryStrategy'),
  },
  {
    // Every request can be signed but the events of a stream, which this is for (2.5 KB).
    module: '@smithy/signature-v4/dist-es/HeaderFormatter.js',
    change: absent('HeaderFormatter', 'format'),
  },
  {
    // A function has no home with an `.aws` folder. Without the search for it the first request is faster, and on a
    // laptop nobody's own settings leak into the local cloud (2.1 KB).
    module: '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js',
    change: () => `
      export { CONFIG_PREFIX_SEPARATOR } from './constants';
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
    `,
  },
  {
    // The places in the world after which regions are named, which no rule reads (1.8 KB).
    module: '@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js',
    change: (source) => source.replace(/\{\s*"description": "[^"]*"\s*\}/g, '{}'),
  },
  {
    // The document client's paginators, scans among them; `shared/table` turns its pages itself (1.6 KB).
    module: '@aws-sdk/lib-dynamodb/dist-es/pagination/index.js',
    change: () => 'export {};',
  },
  {
    // Asks the host of an EC2 machine for its region; Lambda has it in the environment (1.4 KB).
    module:
      '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js',
    change: () => 'export const getInstanceMetadataRegion = async () => undefined;',
  },
  // Only the version is read, for the `User-Agent` (2.4 KB each).
  ...['dynamodb', 'kms', 's3', 'secrets-manager', 'sqs'].map((service) => ({
    module: `@aws-sdk/client-${service}/package.json`,
    change: (source: string) => JSON.stringify({ version: JSON.parse(source).version }),
  })),
];

/** A file filter for the path, as esbuild wants it. */
const endingIn = (path: string): RegExp =>
  new RegExp(`[\\\\/]${path.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]')}$`);

const leanPackages: Plugin = {
  name: 'lean-packages',
  setup(build) {
    for (const { module, change } of cuts) {
      build.onLoad({ filter: endingIn(join('node_modules', module)) }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        const contents = change(source);
        if (contents === source) throw new Error(`${module} has nothing to cut any more.`);
        return { contents, loader: module.endsWith('.json') ? 'json' : 'js' };
      });
    }
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
    build.onLoad({ filter: /[\\/]shared[\\/](?:domain|endpoints)[\\/].+\.ts$/ }, async ({ path }) => ({
      contents: withPureConstants(await readFile(path, 'utf8')),
      loader: 'ts',
    }));
  },
};

/** What keeps every function's bundle small. */
export const leanBundles: Plugin[] = [leanPackages, noEventStreams, onlyNeededDeclarations];
