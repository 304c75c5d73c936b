/**
 * The floors of `shared/`, from the bottom to the top. A folder imports from lower floors only, and no folder from
 * another one of its own floor; type imports count. CONTRIBUTING.md says what stands where.
 */
const floors = [
  ['aws', 'http', 'markdown'],
  ['table'],
  ['log'],
  ['kernel'],
  ['adapters'],
  ['model/permission'],
  ['model/realm'],
  ['model/user'],
  ['model/group'],
  ['model/channel'],
  ['model/message'],
  ['model/subscription'],
  ['reader', 'mention', 'outbox', 'realm-edit', 'emoji', 'presence', 'calls', 'search', 'snippets'].map(
    inDomain,
  ),
  ['files'].map(inDomain),
  ['send', 'reaction', 'submessage', 'group-edit', 'profile', 'push', 'mail-out'].map(inDomain),
  ['fetch', 'edit', 'channel-edit', 'mail', 'drafts', 'navigation', 'scheduled'].map(inDomain),
  ['flags', 'retention', 'move', 'subscribe', 'export', 'typing'].map(inDomain),
  ['invite'].map(inDomain),
  ['account', 'event', 'job'].map(inDomain),
  ['organization', 'register', 'single-sign-on'].map(inDomain),
  ['endpoints'],
  ['openapi', 'pages'],
  ['serve'],
];

function inDomain(folder) {
  return `domain/${folder}`;
}

const pathOf = (folders) => `^shared/(${folders.join('|')})/`;

/** What a folder may not import: the other folders of its floor, and all floors above. */
const stairs = floors.flatMap((floor, at) =>
  floor.map((folder) => ({
    name: `stairs-${folder.replace('/', '-')}`,
    severity: 'error',
    from: { path: pathOf([folder]) },
    to: { path: pathOf(floors.slice(at).flat()), pathNot: pathOf([folder]) },
  })),
);

/** The arrows between folders (DESIGN 2), and no cycles. */
module.exports = {
  forbidden: [
    ...stairs,
    {
      name: 'every-folder-has-a-floor',
      severity: 'error',
      from: { path: '^(shared|functions|infra|test)/' },
      to: { path: '^shared/.+/', pathNot: pathOf(floors.flat()) },
    },
    {
      name: 'files-below-all-floors',
      comment: 'A file directly in `shared/` imports nothing of ours.',
      severity: 'error',
      from: { path: '^shared/[^/]+$' },
      to: { path: '^(shared|functions|infra|test)/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
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
      comment: 'A listener holds the requests of other endpoints, so it runs their handlers.',
      severity: 'error',
      from: { path: '^functions/', pathNot: '^functions/events/listen[.]ts$' },
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
      from: { path: '^(shared|functions)/', pathNot: '^shared/(table|adapters)/' },
      to: { path: '@aws-sdk/client-|@smithy/signature-v4' },
    },
    {
      name: 'only-serve-knows-the-gateway',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/serve/' },
      to: { path: '@middy/|aws-lambda' },
    },
    {
      name: 'the-domain-knows-no-gateway-and-no-tools',
      severity: 'error',
      from: { path: '^shared/(domain|model|kernel)/' },
      to: { path: '^shared/(serve|adapters)/' },
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
