import { parseArgs } from 'node:util';
import { roles } from '../../shared/model/permission/permission.ts';

/** The command was given in a way that it does not know: its message is one sentence that says what is wrong. */
export class UsageProblem extends Error {}

interface Option {
  /** What stands for its value in the help; absent for one that has none. */
  readonly value?: string;
  readonly says: string;
}

const options = {
  name: { value: 'NAME', says: 'the name of the organization or of the person' },
  'owner-email': { value: 'EMAIL', says: 'the address of its first owner' },
  'owner-name': { value: 'NAME', says: 'their full name; otherwise what stands before the @' },
  host: { value: 'HOST', says: 'a host at which the organization answers, as chat.example.com' },
  remove: { value: 'HOST', says: 'a host that is to lead there no more' },
  org: { value: 'ID|HOST', says: 'which organization; not needed where there is only one' },
  email: { value: 'EMAIL', says: 'the address of the account' },
  address: { value: 'EMAIL', says: 'the address of a channel for mail' },
  role: { value: 'ROLE', says: `one of ${Object.keys(roles).join(', ')}; otherwise member` },
  out: {
    value: 'FILE',
    says: 'a new file for a zuliprc with a key, which only you may read',
  },
  json: { says: 'the list as JSON' },
  table: { value: 'NAME', says: 'the table of a deployed stack (its output TableName)' },
  region: { value: 'REGION', says: 'the region of the stack; otherwise AWS_REGION' },
  site: { value: 'URL', says: 'the address of the deployed service (its output BaseUrl)' },
  help: { says: 'this text' },
} as const satisfies Readonly<Record<string, Option>>;

export type OptionName = keyof typeof options;

interface Verb {
  readonly says: string;
  readonly needs: readonly OptionName[];
  readonly takes: readonly OptionName[];
}

const verbs = {
  create: {
    says: "makes an organization with one owner, and prints a link for the owner's first password; with --out they get a key instead",
    needs: ['name', 'owner-email'],
    takes: ['owner-name', 'host', 'out'],
  },
  list: { says: 'lists the organizations', needs: [], takes: ['json'] },
  'add-user': {
    says: 'makes an account for a person, and prints a link for their first password; with --out they get a key instead',
    needs: ['email', 'name'],
    takes: ['role', 'org', 'out'],
  },
  'password-link': {
    says: 'prints a link with which the owner of an account sets its password, for a day',
    needs: ['email'],
    takes: ['org'],
  },
  'rotate-key': {
    says: 'gives an account a new key, and prints its zuliprc without --out; all others are out at once',
    needs: ['email'],
    takes: ['org', 'out'],
  },
  'end-address': {
    says: "ends a channel's address for mail that leaked; its user is given another one on request",
    needs: ['address'],
    takes: [],
  },
  'set-host': {
    says: 'attaches a host to an organization, or removes one',
    needs: [],
    takes: ['host', 'remove', 'org'],
  },
  deactivate: {
    says: 'takes an organization out of service, which refuses every request of it; nothing is deleted',
    needs: ['org'],
    takes: [],
  },
  reactivate: { says: 'puts a deactivated organization back into service', needs: ['org'], takes: [] },
  'rebuild-search': {
    says: 'rebuilds the search index from the messages (infra/RUNBOOK.md)',
    needs: [],
    takes: ['org'],
  },
  migrate: {
    says: 'brings what earlier releases stored to the newest versions (infra/UPGRADES.md)',
    needs: [],
    takes: ['org'],
  },
} as const satisfies Readonly<Record<string, Verb>>;

export type VerbName = keyof typeof verbs;

/** What every verb takes: where the service is. */
const everywhere: readonly OptionName[] = ['table', 'region', 'site', 'help'];

/** A command with its arguments. */
export interface Wanted {
  readonly verb: VerbName;
  /** The values of the options that were given; an option without a value has the empty one. */
  readonly given: Readonly<Partial<Record<OptionName, string>>>;
}

/**
 * Reads the arguments of the command; undefined where they ask for help.
 *
 * @throws UsageProblem naming the first that is wrong or missing.
 */
export function readArguments(args: readonly string[]): Wanted | undefined {
  const [verb, ...rest] = args;
  if (verb === 'help' || verb === '--help') return undefined;
  if (verb === undefined) throw new UsageProblem(`Say what to do: ${Object.keys(verbs).join(', ')}.`);
  if (!isVerb(verb))
    throw new UsageProblem(`There is no verb '${verb}': use one of ${Object.keys(verbs).join(', ')}.`);
  const { needs, takes }: Verb = verbs[verb];
  const known = new Set<string>([...needs, ...takes, ...everywhere]);
  const given = readOptions(verb, rest, known);
  if (given.help !== undefined) return undefined;
  const missing = needs.find((name) => given[name] === undefined);
  if (missing !== undefined) throw new UsageProblem(`${verb} needs ${shown(missing)}.`);
  if (verb === 'set-host' && given.host === undefined && given.remove === undefined) {
    throw new UsageProblem(`set-host needs ${shown('host')} or ${shown('remove')}.`);
  }
  checkPlace(given, takes.includes('out') || verb === 'password-link');
  return { verb, given };
}

const isVerb = (name: string): name is VerbName => Object.hasOwn(verbs, name);

function readOptions(verb: VerbName, args: readonly string[], known: ReadonlySet<string>): Wanted['given'] {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries<Option>(options).map(([name, { value }]) => [
        name,
        { type: value ? 'string' : 'boolean' },
      ]),
    ),
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') throw new UsageProblem(`${verb} can do nothing with '${token.value}'.`);
    const { name, rawName, value, inlineValue } = token;
    if (!known.has(name)) throw new UsageProblem(`${verb} has no option ${rawName}.`);
    if (given.has(name)) throw new UsageProblem(`${rawName} may be given only once.`);
    const takesValue = 'value' in options[name as OptionName];
    if (!takesValue && value !== undefined) throw new UsageProblem(`${rawName} takes no value.`);
    const isNext = inlineValue === false && value?.startsWith('--') === true;
    if (takesValue && (value === undefined || isNext)) {
      throw new UsageProblem(
        `${rawName} needs a value${isNext ? `; write ${rawName}=${value} if it is ${value}` : ''}.`,
      );
    }
    given.set(name, value ?? '');
  }
  return Object.fromEntries(given);
}

/** A deployed service is named by all that leads to it, or it is the one of this machine. */
function checkPlace({ table, region, site }: Wanted['given'], letsIn: boolean): void {
  if (table === undefined && (region ?? site) !== undefined) {
    throw new UsageProblem(`${region === undefined ? '--site' : '--region'} goes with --table.`);
  }
  if (table !== undefined && letsIn && site === undefined) {
    throw new UsageProblem(`With --table this needs ${shown('site')}.`);
  }
  if (site !== undefined && !isAddress(site)) {
    throw new UsageProblem(`--site must be an address such as https://chat.example.com, and not '${site}'.`);
  }
}

function isAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}

function shown(name: OptionName): string {
  const { value }: Option = options[name];
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** How the command is used. */
export function help(): string {
  const lines = Object.entries<Verb>(verbs).flatMap(([name, { says, needs, takes }]) => [
    `  ${[name, ...needs.map(shown), ...takes.map((each) => `[${shown(each)}]`)].join(' ')}`,
    `      ${says}`,
  ]);
  const width = Math.max(...(Object.keys(options) as OptionName[]).map((name) => shown(name).length));
  const explained = (Object.keys(options) as OptionName[]).map(
    (name) => `  ${shown(name).padEnd(width)}  ${options[name].says}`,
  );
  return [
    'npm run -s org -- VERB [OPTIONS]',
    '',
    ...lines,
    '',
    'Without --table it is about the service of this machine (DATA_DIR, as for npm start), whether that runs or not;',
    'with it about a deployed one, by the credentials that the AWS CLI would use.',
    '',
    ...explained,
    '',
    'It ends with 0, with 1 where something was refused, and with 2 where it was not understood.',
    '',
  ].join('\n');
}
