/** The numbers of DESIGN 7: what tests assert, and what `npm run bench` compares its figures with. */
export const designBudgets = {
  /** Sequential round trips to DynamoDB. */
  sendColdTrips: 3,
  sendWarmTrips: 2,
  writeTrips: 3,
  readTrips: 2,
  /** DESIGN gives reads one number; a cold container first looks up where names lead, as it does for a send. */
  readColdTrips: 3,
  /** Write units of a channel message, and numbers of subscribers for which they are the same. */
  messageUnits: 9,
  fewSubscribers: 10,
  manySubscribers: 10_000,
  /** Bytes of an HTTP function, and of one that renders Markdown. */
  bundleBytes: 300 * 1024,
  markdownBundleBytes: 410 * 1024,
  /** Bytes of the file beside it that is loaded when a text has formulas. */
  typesetterBytes: 280 * 1024,
  /** The same of the file that is loaded when an organization has linkifiers. */
  linkifierBytes: 160 * 1024,
  /** Bytes of an HTTP function that takes new passwords: it has a list of common ones, loaded when it is needed. */
  passwordBundleBytes: 750 * 1024,
  /** Bytes of the HTTP function that asks a provider of sign-in, and lets new people join by an invitation. */
  joiningBundleBytes: 330 * 1024,
  /** An import to that of the bare document client. */
  importRatio: 1.2,
  /** Resources of the stack with everything set; CloudFormation allows 500. */
  resources: 485,
  /** Endpoints that must fit into one stack, and its resources then with nothing set: 50 are left. */
  endpoints: 208,
  resourcesWhenGrown: 450,
  /** Bytes of the template with that many endpoints and everything set; CloudFormation takes a million. */
  templateBytes: 970_000,
  /** Messages of an export, and the memory (MB) that it may take. */
  exportMessages: 250_000,
  exportMb: 256,
  /** Messages among which one searches, and until the first page (ms), in a container that searched before and in a new one. */
  searchMessages: 250_000,
  searchWarmMs: 150,
  searchColdMs: 1_500,
  /** Seconds until `npm start` is ready: with everything to build, and when nothing changed. */
  startSeconds: 6,
  restartSeconds: 2,
  /** Memory (MB) of all processes of the local service: idle, and after every function was called. */
  idleMb: 250,
  calledMb: 700,
  /** Median milliseconds of a call through the local service on two quiet processors, with one call under way. */
  turnMs: { send: 9, emoji: 4, fetch: 18, register: 60 },
  /** Milliseconds from a commit until a blocked poll wakes. */
  wakeMs: 300,
  wakeMedianMs: 150,
  /** Clients of one organization that wake at one message, and the median (ms) until each has its whole reply. */
  crowd: 200,
  crowdMedianMs: 300,
  /** Clients that wait while nothing happens, and memory (MB) that the local service needs more for them. */
  waitingClients: 2_000,
  waitingMb: 150,
  /** Looks at the end of one organization's log, a second, by each process that holds polls. */
  looks: 6.7,
} as const;

/** The budget of a bundle (bytes), by the files that are in it. */
export function bundleBudget(inputs: readonly string[]): number {
  if (inputs.some((file) => file.includes('/@zxcvbn-ts/'))) return designBudgets.passwordBundleBytes;
  if (inputs.some((file) => file.includes('/markdown-it/'))) return designBudgets.markdownBundleBytes;
  const has = (part: string): boolean => inputs.some((file) => file.includes(part));
  if (has('/oauth4webapi/') && has('/account/join.ts')) return designBudgets.joiningBundleBytes;
  return designBudgets.bundleBytes;
}
