/** `npm start`: the whole service on this machine, from the synthesized template. */
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { operatorSettings } from '../../shared/endpoints/operator-setting.ts';
import { assemble } from './assembly.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { openDataDirectory } from './data-directory.ts';
import type { Demo } from './demo-organization.ts';
import { startDynamoStore } from './dynamo-store.ts';
import { checkPort } from './loopback.ts';
import { LocalOutbox } from './outbox.ts';
import { Progress } from './progress.ts';
import { type PushRelay, relayContext, startPushRelay } from './push-relay.ts';
import { forgetService, rememberService } from './service-file.ts';
import { StartProblem } from './start-problem.ts';

/** A terminal and npm both pass on one press of Ctrl-C; within these milliseconds it counts once. */
const onePress = 300;

const progress = new Progress((line) => console.log(line));
/** How to end what was started, in the order in which that was. */
const started: (() => unknown)[] = [];
let asked = Number.POSITIVE_INFINITY;
let ending = false;

// Lambda's clock, and credentials that fit no account, so that nothing here can ever reach a real one.
Object.assign(process.env, { TZ: 'UTC', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) delete process.env[name];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted);
// The bootstrap is gone, by kill -9, and no longer forwards signals.
process.on('disconnect', interrupted);
process.on('uncaughtException', fail);
await main().catch(fail);

async function main(): Promise<void> {
  const { logs } = readArguments();
  const configuration = readConfiguration(process.env);
  const directory = openDataDirectory(configuration.dataDirectory);
  started.push(() => directory.release());
  forgetService(directory.path);
  // After the folder: the process that had it until now has released the port first.
  await checkPort(configuration.port);
  if (configuration.smtp?.isFixed) await checkPort(configuration.smtp.port, 'SMTP_PORT');
  const inside = (name: string) => join(directory.path, name);

  const relay = await relayInPlace(configuration);
  // The synthesis leaves a processor free, for the passwords of the demo.
  const built = Promise.withResolvers<void>();
  const prepared = built.promise
    .then(() => import('./demo-organization.ts'))
    .then(({ prepareDemo }) => prepareDemo({ dataDirectory: directory.path }));
  // What is wrong with it is said when it is needed.
  prepared.catch(() => {});
  const [template, dynamodb, { ensureDemo }, { startLocalCloud }, { eventListener }] = await Promise.all([
    progress.step(
      'Building the functions and the template',
      assemble(
        inside('assembly'),
        { ...configuration.context, ...(relay && relayContext) },
        built.resolve,
      ).finally(built.resolve),
    ),
    progress.step(
      'Starting DynamoDB',
      startDynamoStore(inside('dynamodb.sqlite'), configuration.dynamodbEndpoint),
    ),
    // What the build does not wait for is loaded beside it, which takes half a second.
    import('./demo-organization.ts'),
    import('./local-cloud.ts'),
    import('../../shared/endpoints/listener.ts'),
  ]);
  started.push(() => dynamodb.stop());
  void dynamodb.died.then((words) => fail(new StartProblem(`The DynamoDB store has ended: ${words}`)));

  const outbox = new LocalOutbox((line) => progress.say(line));
  const cloud = await progress.step(
    'Starting the local cloud',
    startLocalCloud({
      template,
      assembly: inside('assembly'),
      dataDirectory: directory.path,
      dynamodb: dynamodb.endpoint,
      port: configuration.port,
      smtp: configuration.smtp,
      concurrency: configuration.concurrency,
      listener: configuration.wait === 'web' ? eventListener : undefined,
      secrets: new Map([...configuration.secrets, ...(relay?.secrets ?? [])]),
      ...(relay && { variables: relay.variables }),
      page: async (request) => outbox.page(request),
      outbox,
      showLogs: logs,
      report: (line) => progress.say(line),
    }),
  );
  started.push(() => cloud.stop());

  const [table] = cloud.service.tables;
  if (!table) throw new Error('The template has no table.');
  const demo = await ensureDemo(await prepared, {
    site: cloud.address,
    environment: {
      TABLE_NAME: table.name,
      AWS_REGION: cloud.place.region,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint.origin,
    },
  });
  rememberService(directory.path, {
    site: cloud.address,
    dynamodb: dynamodb.endpoint,
    region: cloud.place.region,
    table: table.name,
  });
  if (demo.created) progress.say('Made the demo organization');
  if (cloud.smtpPort !== undefined) {
    progress.say(`Taking mail for channels at 127.0.0.1:${cloud.smtpPort} (SMTP)`);
  }
  progress.say(`Sign in with a browser: ${cloud.address}`);
  await sayPasswords(demo);
  progress.say(`Reference of the API: ${cloud.address}api/; mail that is sent: ${cloud.address}outbox/`);
  progress.say(readyLine(cloud.address, demo));
}

/** A relay of our own for push notifications, where the operator set up no other. */
async function relayInPlace({ context }: Configuration): Promise<PushRelay | undefined> {
  if (context[operatorSettings.PUSH_RELAY_URL.context]) return undefined;
  const relay = await startPushRelay((line) => progress.say(line));
  started.push(() => relay.stop());
  return relay;
}

function readArguments(): { readonly logs: boolean } {
  try {
    return parseArgs({ options: { logs: { type: 'boolean', default: false } } }).values;
  } catch (error) {
    throw new StartProblem(`npm start takes nothing but --logs: ${(error as Error).message}`);
  }
}

/** Shows the passwords when they are made; later it says where they are. */
async function sayPasswords({ passwords, passwordFile }: Demo): Promise<void> {
  if (passwordFile === undefined) return;
  const where = relative('', passwordFile);
  progress.say(
    passwords
      ? `Passwords of the demo accounts, which ${where} keeps:`
      : `Passwords of the demo accounts: ${where}`,
  );
  const { passwordLines } = await import('./demo-passwords.ts');
  for (const line of passwordLines(passwords ?? [])) console.log(`         ${line}`);
}

/** The last line: where the service is, who is there, and a command that sends a message. */
function readyLine(address: URL, { folder, accounts }: Demo): string {
  const where = relative('', folder);
  const member = accounts?.find(({ name }) => name === 'member');
  if (!accounts || !member) {
    return `ready at ${address.origin}, but the keys in ${where} are lost: put the files back, or remove the data folder to begin anew.`;
  }
  const names = accounts.map(({ name }) => name).join(', ');
  const send = `curl -sS ${address.origin}/api/v1/messages -u '${member.email}:${member.apiKey}' -d type=channel -d to=general -d topic=greetings --data-urlencode content='Hello, world!'`;
  return `ready at ${address.origin} with the accounts ${names} (keys in ${where}); send a message: ${send}`;
}

/** The first press of Ctrl-C ends everything in order, the second at once. */
function interrupted(): void {
  const now = performance.now();
  if (now - asked > onePress) process.exit(130);
  asked = Math.min(asked, now);
  if (ending) return;
  progress.say('Stopping; press Ctrl-C once more to stop at once');
  void end(0);
}

/** Prints the error, in one sentence if the user can fix it, and exits. */
function fail(error: unknown): void {
  if (ending) return;
  if (error instanceof StartProblem) console.error(error.message);
  else console.error(error);
  void end(1);
}

async function end(code: number): Promise<void> {
  ending = true;
  for (const stop of started.splice(0).reverse()) await Promise.resolve(stop()).catch(() => {});
  process.exit(code);
}
