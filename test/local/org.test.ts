import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openDataDirectory } from '../../infra/local/data-directory.ts';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { rememberService } from '../../infra/local/service-file.ts';
import { runCommand } from '../../infra/org/command.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { setPasswordByLink } from '../../shared/domain/account/password-link.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import { loadPointer } from '../../shared/domain/search/pointer.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { keysOf } from '../../shared/model/user/caller.ts';
import { key } from '../../shared/table/keys.ts';
import type { Person } from '../support/realm.ts';
import { newService, type TestService, whoIs } from '../support/service.ts';
import { temporaryFolder } from './sample-cloud.ts';

const noQueues = { send: async () => {} };

const root = resolve(import.meta.dirname, '../..');

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
let service: TestService;

beforeAll(async () => {
  [folder, service] = await Promise.all([temporaryFolder(), newService()]);
  const profile = '[operator]\naws_access_key_id = AKIAOPERATOR\naws_secret_access_key = secret\n';
  await writeFile(join(folder, 'credentials'), profile);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the command is started with: the profile's credentials, and nothing else that leads to AWS. */
const environmentWith = (more: Readonly<Record<string, string>>): Record<string, string | undefined> => ({
  INIT_CWD: folder,
  DATA_DIR: join(folder, 'data'),
  AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
  ...more,
});

/** The command, in this process. */
async function org(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Run> {
  let [stdout, stderr] = ['', ''];
  const code = await runCommand(args, {
    environment: environmentWith(more),
    print: (text) => (stdout += text),
    tell: (line) => (stderr += `${line}\n`),
  });
  return { code, stdout, stderr };
}

/** `npm run -s org`, without npm, with the credentials of a profile and nothing else that leads to AWS. */
async function start(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Run> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(AWS_|DYNAMODB_|DATA_DIR)/.test(name));
  const child = spawn(process.execPath, ['infra/local/bootstrap.mjs', 'infra/org.ts', ...args], {
    cwd: root,
    env: {
      ...Object.fromEntries(inherited),
      ...environmentWith({}),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_PROFILE: 'operator',
      ...more,
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** The options for the service of this test, as if it were deployed. */
const deployed = (site = 'https://chat.test') => [
  ...['--table', service.table, '--region', 'us-east-1'],
  ...['--site', site],
];

/** Sets a password by the link that the command printed, and returns who can sign in with it then. */
async function followed(link: string): Promise<Omit<Person, 'userId'> & { readonly site: string }> {
  const { origin: site, hostname, pathname } = new URL(link.trim());
  const [, token = ''] = /^\/accounts\/set-password\/([\w-]{32})$/.exec(pathname) ?? [];
  const password = 'twelve grey herons';
  const { email } = await setPasswordByLink(service.outside, hostname, token, password);
  const signIn = { email, password, address: '192.0.2.1', label: 'Terminal' };
  return { ...(await signInWithPassword(service.outside, noQueues, hostname, signIn)), site };
}

/** What a client reads in a zuliprc. */
function accountIn(zuliprc: string) {
  const [, email = '', apiKey = '', site] =
    /^\[api\]\nemail=(.+)\nkey=([A-Za-z0-9]{32})\nsite=(.+)\n$/.exec(zuliprc) ?? [];
  return { email, apiKey, site };
}

describe('npm run org', () => {
  test('prints only the link for a password, and uses the credentials of a profile', async () => {
    const create = ['create', '--name', 'Acme', '--owner-email', 'ada@example.com', ...deployed()];
    const nobody = start(create, { AWS_PROFILE: 'nobody' });
    const made = await start(create);
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Made the organization 'Acme' (ID main)"),
    });
    expect(made.stdout).toMatch(/^https:\S+\n$/);
    const owner = await followed(made.stdout);
    expect(owner).toMatchObject({ email: 'ada@example.com', site: 'https://chat.test' });
    expect(made.stderr).not.toContain('set-password');
    expect(await whoIs(service, 'chat.test', owner)).toMatchObject({ role: roles.owner, name: 'ada' });
    expect(await nobody).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There are no credentials for AWS .*\n$/),
    });
  });

  test('creates organizations, users and keys, and writes a key to a new file that only its owner can read', async () => {
    const again = await org([
      ...['create', '--name', 'Acme', '--owner-email', 'ada@example.com'],
      ...['--out', 'again.zuliprc', ...deployed()],
    ]);
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('password-link makes a link for a password'),
    });
    await expect(stat(join(folder, 'again.zuliprc'))).rejects.toThrow('ENOENT');

    const person = ['--email=bo@x.test', '--name=Bo', '--role=moderator'];
    const added = await org(['add-user', ...person, '--out=bo.zuliprc', ...deployed()]);
    expect(added).toMatchObject({ code: 0, stdout: '' });
    const file = join(folder, 'bo.zuliprc');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const bo = accountIn(await readFile(file, 'utf8'));
    expect(await whoIs(service, 'chat.test', bo)).toMatchObject({ role: roles.moderator, name: 'Bo' });

    const rotate = ['rotate-key', '--email', 'BO@x.test', ...deployed()];
    const kept = await org([...rotate, '--out', 'bo.zuliprc']);
    expect(kept).toMatchObject({ code: 2, stderr: expect.stringContaining('bo.zuliprc is there already') });
    expect(accountIn(await readFile(file, 'utf8'))).toEqual(bo);
    const rotated = await org(rotate);
    expect(await whoIs(service, 'chat.test', bo)).toBe(401);
    expect(await whoIs(service, 'chat.test', accountIn(rotated.stdout))).toMatchObject({ name: 'Bo' });

    const beta = ['create', '--name', 'Beta', '--owner-email', 'ada@example.com', '--host', 'Beta.test'];
    const second = await followed((await org([...beta, ...deployed('http://127.0.0.1:8080')])).stdout);
    expect(second.site).toBe('http://beta.test:8080');
    expect(await whoIs(service, 'beta.test', second)).toMatchObject({ role: roles.owner });
    const cy = await org(['add-user', '--email=cy@x.test', '--name=Cy', '--org=main', ...deployed()]);
    expect(cy).toMatchObject({ code: 0, stderr: expect.stringContaining('once, within a day') });
    const stored = await service.outside.table.get('account', { realm: 'main', email: 'cy@x.test' });
    expect(stored && keysOf(stored)).toEqual([]);
    const other = await org(['password-link', '--email=CY@x.test', '--org=main', ...deployed()]);
    for (const { stdout } of [cy, other]) {
      expect(await whoIs(service, 'chat.test', await followed(stdout))).toMatchObject({ name: 'Cy' });
      await expect(followed(stdout)).rejects.toThrow('This link does not work any more');
    }
    const nobody = await org(['password-link', '--email=no@x.test', '--org=main', ...deployed()]);
    expect(nobody).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no account') });
    const set = await org(['set-host', '--org', 'main', '--host', 'chat.test', ...deployed()]);
    expect(set).toEqual({ code: 0, stdout: '', stderr: "'Acme' (ID main) answers at *, chat.test.\n" });
    const { table } = service.outside;
    const pointer = { until: 1, at: 1, messages: 1, claim: 1, leased: 0, clean: 1 };
    await table.put(key('searchIndex', { realm: 'main' }), pointer);
    const rebuild = await org(['rebuild-search', '--org', 'main', ...deployed()]);
    expect(rebuild).toMatchObject({ code: 0, stderr: expect.stringContaining("'Acme' will be rebuilt") });
    expect(await loadPointer(table, 'main')).toMatchObject({ isVoid: true, claim: 2 });
    const state = (verb: string) => org([verb, '--org=main', ...deployed()]);
    for (const note of ['is out of service', 'is out of service already'])
      expect(await state('deactivate')).toEqual({
        code: 0,
        stdout: '',
        stderr: `'Acme' (ID main) ${note}.\n`,
      });
    expect(await whoIs(service, 'chat.test', accountIn(rotated.stdout))).toBe(401);
    expect((await state('reactivate')).stderr).toBe("'Acme' (ID main) is in service.\n");
    expect(await whoIs(service, 'chat.test', accountIn(rotated.stdout))).toMatchObject({ name: 'Bo' });
    const list = await org(['list', ...deployed()]);
    expect(list.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'NAME', 'CREATED', 'HOSTS'],
      ['beta.test', 'Beta', expect.stringMatching(/^\d{4}-\d\d-\d\d$/), 'beta.test'],
      ['main', 'Acme', expect.anything(), '*, chat.test'],
      [''],
    ]);
  });

  test('says in one sentence what is wrong', async () => {
    const create = ['create', '--name', 'A', '--owner-email', 'a@b.test'];
    const at = ['--table', service.table, '--region', 'us-east-1'];
    const boss = ['add-user', '--email', 'a@b.test', '--name', 'A', '--role', 'boss', ...deployed()];
    const wrong: [readonly string[], number, string][] = [
      [[], 2, 'Say what to do: create, list, add-user, password-link, rotate-key, end-address, set-host'],
      [['make'], 2, "There is no verb 'make': use one of create, "],
      [['create', '--name', 'A'], 2, 'create needs --owner-email EMAIL.'],
      [[...create, '--name', 'B'], 2, '--name may be given only once.'],
      [
        ['create', '--name', '--owner-email', 'a@b.test'],
        2,
        '--name needs a value; write --name=--owner-email',
      ],
      [['create', '--owner-email'], 2, '--owner-email needs a value.'],
      [[...create, '--email', 'a@b.test'], 2, 'create has no option --email.'],
      [[...create, '-x'], 2, 'create has no option -x.'],
      [[...create, 'more'], 2, "create can do nothing with 'more'."],
      [['list', '--json=yes'], 2, '--json takes no value.'],
      [['set-host', '--org', 'main'], 2, 'set-host needs --host HOST or --remove HOST.'],
      [[...create, ...at], 2, 'With --table this needs --site URL.'],
      [[...create, ...at, '--site', 'https://x.test/prod'], 2, '--site must be an address such as'],
      [['list', '--region', 'us-east-1'], 2, '--region goes with --table.'],
      [['list', '--table', 'T'], 2, '--table needs --region REGION, or AWS_REGION in the environment.'],
      [boss, 2, '--role must be one of owner, '],
      [[...create, '--out', 'no/such/folder'], 2, 'The file no/such/folder cannot be made (ENOENT)'],
      [
        ['list', '--table', 'none', '--region', 'us-east-1'],
        1,
        'There is no such table there: look at --table',
      ],
      [['list'], 1, 'There is no service in DATA_DIR '],
    ];
    for (const [args, code, words] of wrong) {
      const run = await org(args);
      expect([run.code, run.stdout], args.join(' ')).toEqual([code, '']);
      expect(run.stderr.slice(0, words.length), args.join(' ')).toBe(words);
      expect(run.stderr.trim().split('\n')).toHaveLength(1);
    }
    const nowhere = await org(['list', ...at], { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' });
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DynamoDB does not answer .*\n$/),
    });
    const help = await org(['add-user', '--help']);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('-- VERB [OPTIONS]'), stderr: '' });
  });

  test('works on the local service, whether it runs or not', async () => {
    const data = join(folder, 'data');
    const local = (args: readonly string[]) => org(args, { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' });
    const site = new URL('http://127.0.0.1:9991');
    await mkdir(data);
    const store = await startDynamoStore(join(data, 'dynamodb.sqlite'), undefined);
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = new DynamoDBClient({ endpoint: store.endpoint.origin, region: 'us-east-1', credentials });
    await client.send(new CreateTableCommand({ TableName: 'Table', ...tableDefinition() }));
    client.destroy();
    rememberService(data, { site, dynamodb: store.endpoint, region: 'us-east-1', table: 'Table' });

    // As while the service runs: it has the folder.
    const running = openDataDirectory(data);
    const first = await local(['create', '--name', 'Acme', '--owner-email', 'ada@example.com']);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(/^http:\/\/127\.0\.0\.1:9991\/accounts\/set-password\/[\w-]{32}\n$/);
    await store.stop();
    running.release();

    const create = ['create', '--name', 'Beta', '--owner-email', 'bo@example.com', '--host'];
    const beta = await local([...create, 'beta.localhost']);
    expect(new URL(beta.stdout).origin).toBe('http://beta.localhost:9991');
    expect(beta.stderr).toContain('curl and browsers find beta.localhost by themselves; other programs');
    const gamma = await local([...create, 'gamma.test']);
    expect(gamma.stderr).toContain(
      'find gamma.test here with the line "127.0.0.1 gamma.test" in /etc/hosts.',
    );
    const { stdout } = await local(['list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { id: 'beta.localhost', name: 'Beta', hosts: ['beta.localhost'], deactivated: false },
      { id: 'gamma.test' },
      { id: 'main', name: 'Acme', hosts: ['*'] },
    ]);
  });
});
