/** The arrows between folders (DESIGN 2), and no cycles. */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'shared-stands-alone',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(functions|infra|test)/' },
    },
    {
      name: 'functions-know-shared-only',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(infra|test)/' },
    },
    {
      name: 'no-function-calls-another',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^functions/' },
    },
    {
      name: 'infra-imports-no-handlers',
      severity: 'error',
      from: { path: '^infra/' },
      to: { path: '^(functions|test)/' },
    },
    {
      name: 'only-the-table-knows-dynamodb',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/table/' },
      to: { path: '@aws-sdk/(client-dynamodb|lib-dynamodb|util-dynamodb)' },
    },
    {
      name: 'each-service-of-aws-has-one-folder',
      comment: 'Workers that write objects in parts take the client of S3 there too.',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/(table|queue|objects|secrets|vault)/' },
      to: { path: '@aws-sdk/client-|@smithy/signature-v4' },
    },
    {
      name: 'only-serve-knows-the-gateway',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/serve/' },
      to: { path: '@middy/|aws-lambda' },
    },
    {
      name: 'the-log-and-the-table-know-no-domain',
      severity: 'error',
      from: { path: '^shared/(log|table)/' },
      to: { path: '^shared/(domain|serve|endpoints|markdown)/' },
    },
    {
      name: 'the-domain-knows-no-gateway-and-no-tools',
      severity: 'error',
      from: { path: '^shared/domain/' },
      to: { path: '^shared/(serve|queue|objects|secrets|vault)/' },
    },
    {
      name: 'endpoints-are-declarations',
      severity: 'error',
      from: { path: '^shared/endpoints/' },
      to: { path: '^shared/(serve|table|log)/' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
