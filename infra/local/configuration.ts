import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  missingSetting,
  type OperatorSettingName,
  operatorSettingNames,
  operatorSettings,
} from '../../shared/endpoints/operator-setting.ts';
import type { SmtpPort } from './mail-listener.ts';
import { StartProblem } from './start-problem.ts';

const waits = ['web', 'function'] as const;
type Wait = (typeof waits)[number];

export interface Configuration {
  /** Where clients find the service; 0 for any free port. */
  readonly port: number;
  /** Absolute path of the folder in which everything is kept. */
  readonly dataDirectory: string;
  /** A DynamoDB to use instead of the one among the packages. */
  readonly dynamodbEndpoint: URL | undefined;
  /** Where mail for channels is left; undefined where none is taken. */
  readonly smtp: SmtpPort | undefined;
  /** How many functions may run at once. */
  readonly concurrency: number;
  /** What holds the requests of clients that wait for events: one server, or a function for each of them. */
  readonly wait: Wait;
  /** What the operator set, as values of CDK context. */
  readonly context: Readonly<Record<string, string>>;
  /** Secrets that the operator set, by the last part of their names in AWS. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** The variables that stand for secrets on a laptop. */
const secretVariables = [
  'PUSH_RELAY_ORG_KEY',
  'ZOOM_CLIENT_SECRET',
  'WEBEX_CLIENT_SECRET',
  'BIG_BLUE_BUTTON_SECRET',
  'OIDC_CLIENT_SECRET',
] as const;

/** About what a warm copy of a function takes in memory, in bytes (measured: 20 MB and the function's own data). */
const memoryOfFunction = 24 * 1024 * 1024;

/** The default port for mail. Another service of this machine may use it. */
const usualSmtpPort = 9925;

/** The domain of channels' addresses, which leads nowhere but here. */
const localMailDomain = 'parlance.localhost';

/** How many functions an AWS account may run at once unless it asked for more. */
const accountConcurrency = 1000;

/** How many of them AWS wants to stay for functions that reserve none. */
const unreserved = 100;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from the environment.
 *
 * @throws StartProblem naming the first variable that is not usable and what it has to be.
 */
export function readConfiguration(environment: Environment): Configuration {
  const smtp = readSmtpPort(environment);
  const settings = Object.fromEntries(operatorSettingNames.flatMap((name) => readSetting(environment, name)));
  const pair = missingSetting((name) => operatorSettings[name].context in settings);
  if (pair !== undefined) throw new StartProblem(`${pair.given} needs ${pair.missing}, which is not set.`);
  const concurrency = readNumber(environment, 'LOCAL_CONCURRENCY', {
    from: 2,
    to: 10_000,
    otherwise: defaultConcurrency(process.availableMemory()),
  });
  const wait = readWait(environment);
  const mailDomain = smtp && (settings[operatorSettings.MAIL_DOMAIN.context] ?? localMailDomain);
  return {
    smtp,
    port: readNumber(environment, 'PORT', { from: 0, to: 65_535, otherwise: 9991 }),
    dataDirectory: readDirectory(environment.DATA_DIR ?? '.local'),
    dynamodbEndpoint: readAddress(environment, 'DYNAMODB_ENDPOINT'),
    concurrency,
    wait,
    context: {
      ...settings,
      [operatorSettings.MAIL_DOMAIN.context]: mailDomain ?? '',
      // It follows from the free memory, so the template would be another one at every start.
      ...(wait === 'function' && { pollConcurrency: String(roomForPolls(concurrency)) }),
    },
    secrets: new Map(
      secretVariables.flatMap((name) => {
        const value = environment[name]?.trim();
        return value ? [[name.replaceAll('_', '-').toLowerCase(), value]] : [];
      }),
    ),
  };
}

/** The port for mail that `SMTP_PORT` names; 0 takes no mail. */
function readSmtpPort(environment: Environment): SmtpPort | undefined {
  const port = readNumber(environment, 'SMTP_PORT', { from: 0, to: 65_535, otherwise: usualSmtpPort });
  return port === 0 ? undefined : { port, isFixed: Boolean(environment.SMTP_PORT?.trim()) };
}

function readWait({ WAIT = '' }: Environment): Wait {
  const text = WAIT.trim();
  if (text === '') return 'web';
  const wait = waits.find((each) => each === text);
  if (wait === undefined) throw new StartProblem(`WAIT must be web or function, and not "${text}".`);
  return wait;
}

/** A setting of the operator under its name in CDK context, if it is set. */
function readSetting(environment: Environment, name: OperatorSettingName): [string, string][] {
  const value = environment[name]?.trim();
  if (!value) return [];
  const { context, description, matches } = operatorSettings[name];
  if (matches.test(value)) return [[context, value]];
  throw new StartProblem(`${name} (${description}) cannot be "${value}".`);
}

/** Three quarters of the free memory may go to functions, up to what an account has. */
export const defaultConcurrency = (freeMemory: number): number =>
  Math.min(
    accountConcurrency,
    Math.max(4 * availableParallelism(), Math.floor((freeMemory * 0.75) / memoryOfFunction)),
  );

/** How many clients may wait at once: what AWS too demands stays free for all other functions, and at least a fifth. */
export const roomForPolls = (concurrency: number): number =>
  concurrency - Math.min(unreserved, Math.ceil(concurrency / 5));

function readNumber(
  environment: Environment,
  name: string,
  { from, to, otherwise }: { readonly from: number; readonly to: number; readonly otherwise: number },
): number {
  const text = environment[name]?.trim();
  if (!text) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= from && value <= to) return value;
  throw new StartProblem(`${name} must be a whole number from ${from} to ${to}, and not "${text}".`);
}

function readDirectory(text: string): string {
  if (text.trim() === '' || text.includes('\0'))
    throw new StartProblem('DATA_DIR must be the path of a folder.');
  return resolve(text);
}

function readAddress(environment: Environment, name: string): URL | undefined {
  const text = environment[name]?.trim();
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url;
  throw new StartProblem(`${name} must be an address such as http://127.0.0.1:8000, and not "${text}".`);
}
