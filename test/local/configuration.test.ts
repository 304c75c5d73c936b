import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  readClientConfigurations,
  writeClientConfigurations,
} from '../../infra/local/client-configuration.ts';
import { defaultConcurrency, readConfiguration, roomForPolls } from '../../infra/local/configuration.ts';
import { openDataDirectory } from '../../infra/local/data-directory.ts';
import { StartProblem } from '../../infra/local/start-problem.ts';
import { temporaryFolder } from './sample-cloud.ts';

describe('the configuration', () => {
  test('has a default for everything', () => {
    expect(readConfiguration({})).toEqual({
      port: 9991,
      dataDirectory: resolve('.local'),
      dynamodbEndpoint: undefined,
      concurrency: expect.any(Number),
      wait: 'web',
      smtp: { port: 9925, isFixed: false },
      context: { mailDomain: 'parlance.localhost' },
      secrets: new Map(),
    });
    expect(readConfiguration({ PORT: '', DYNAMODB_ENDPOINT: ' ' }).port).toBe(9991);
  });

  test('reads the environment', () => {
    const given = {
      PORT: '80',
      DATA_DIR: '/data',
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
      LOCAL_CONCURRENCY: '7',
      WAIT: 'function',
      PUSH_RELAY_URL: 'https://push.example.com',
      SMTP_PORT: '2525',
      MAIL_DOMAIN: 'mail.example.com',
      WEB_PUBLIC_STREAMS_ENABLED: 'false',
      ZOOM_CLIENT_SECRET: 's3cret',
      OIDC_ISSUER: 'http://127.0.0.1:4000',
      OIDC_CLIENT_ID: 'parlance',
      OIDC_NAME: 'Ant ID',
      OIDC_CLIENT_SECRET: 's1gned',
    };
    expect(readConfiguration(given)).toEqual({
      port: 80,
      dataDirectory: '/data',
      dynamodbEndpoint: new URL('http://localhost:8000'),
      concurrency: 7,
      wait: 'function',
      smtp: { port: 2525, isFixed: true },
      context: {
        pushRelayUrl: 'https://push.example.com',
        mailDomain: 'mail.example.com',
        webPublicStreams: 'false',
        oidcIssuer: 'http://127.0.0.1:4000',
        oidcClientId: 'parlance',
        oidcName: 'Ant ID',
        pollConcurrency: '5',
      },
      secrets: new Map([
        ['zoom-client-secret', 's3cret'],
        ['oidc-client-secret', 's1gned'],
      ]),
    });
  });

  test('receives no mail at the port 0', () => {
    const { smtp, context } = readConfiguration({ SMTP_PORT: '0', MAIL_DOMAIN: 'mail.example.com' });
    expect(smtp).toBeUndefined();
    expect(context).toMatchObject({ mailDomain: '' });
  });

  test.each([
    [2, 1],
    [7, 5],
    [500, 400],
    [1000, 900],
  ])(
    'lets %i functions hold at most %i waiting clients, so that others are not blocked',
    (concurrency, polls) => {
      expect(roomForPolls(concurrency)).toBe(polls);
    },
  );

  test.each([
    ['PORT', 'x', 'PORT must be a whole number from 0 to 65535, and not "x".'],
    ['PORT', '70000', 'PORT must be'],
    ['PORT', '-1', 'PORT must be'],
    ['PORT', '1e3', 'PORT must be'],
    ['SMTP_PORT', 'smtp', 'SMTP_PORT must be a whole number from 0 to 65535, and not "smtp".'],
    ['WAIT', 'long', 'WAIT must be web or function'],
    ['LOCAL_CONCURRENCY', '1', 'LOCAL_CONCURRENCY must be a whole number from 2'],
    ['DATA_DIR', '  ', 'DATA_DIR must be the path of a folder.'],
    ['DYNAMODB_ENDPOINT', 'localhost:8000', 'DYNAMODB_ENDPOINT must be an address such as'],
    ['DYNAMODB_ENDPOINT', 'ftp://x', 'DYNAMODB_ENDPOINT must be'],
    ['DYNAMODB_ENDPOINT', 'http://x/path', 'DYNAMODB_ENDPOINT must be'],
    ['PUSH_RELAY_URL', 'push.example.com', 'PUSH_RELAY_URL (the relay for push notifications) cannot be'],
    ['MAIL_DOMAIN', 'mail@example.com', 'MAIL_DOMAIN (the domain at which channels take mail'],
    ['WEB_PUBLIC_STREAMS_ENABLED', 'yes', 'WEB_PUBLIC_STREAMS_ENABLED ('],
  ])('refuses %s=%s in one clear sentence', (name, value, sentence) => {
    const reading = () => readConfiguration({ [name]: value });
    expect(reading).toThrow(StartProblem);
    expect(reading).toThrow(sentence);
  });

  test('lets as many functions run as fit into memory and an account allows', () => {
    expect(defaultConcurrency(64 * 2 ** 30)).toBe(1000);
    expect(defaultConcurrency(8 * 2 ** 30)).toBe(256);
    expect(defaultConcurrency(0)).toBeGreaterThanOrEqual(4);
  });
});

describe('the data folder', () => {
  test('is created, and belongs to one process at a time', async () => {
    const path = join(await temporaryFolder(), 'deep', 'data');
    const first = openDataDirectory(path);
    expect(() => openDataDirectory(path, 0)).toThrow(`Another npm start has DATA_DIR ${path}`);
    first.release();
    openDataDirectory(path).release();
    expect(await readdir(path)).toEqual(['lock']);
  });

  test('that cannot be written is refused in one clear sentence', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    expect(() => openDataDirectory(join(folder, 'file', 'data'))).toThrow(/cannot be written \(ENOTDIR\)/);
    expect(() => openDataDirectory('/proc/data')).toThrow(
      /DATA_DIR \/proc\/data cannot be written \(E[A-Z]+\): set it/,
    );
    if (process.getuid?.() === 0) return;
    await mkdir(join(folder, 'closed'));
    await chmod(join(folder, 'closed'), 0o500);
    expect(() => openDataDirectory(join(folder, 'closed'))).toThrow(/cannot be written \(EACCES\)/);
  });
});

describe('the files for clients', () => {
  const accounts = [
    { name: 'member', email: 'member@example.com', apiKey: 'k1' },
    { name: 'bot', email: 'bot@example.com', apiKey: 'k2' },
  ];

  test('have the form of official clients, and only their owner can read them', async () => {
    const folder = join(await temporaryFolder(), 'zuliprc');
    writeClientConfigurations(folder, accounts, new URL('http://127.0.0.1:9991'));
    expect(await readFile(join(folder, 'member.zuliprc'), 'utf8')).toBe(
      '[api]\nemail=member@example.com\nkey=k1\nsite=http://127.0.0.1:9991\n',
    );
    expect((await stat(join(folder, 'member.zuliprc'))).mode & 0o777).toBe(0o600);
    expect((await readdir(join(folder, '..'))).sort()).toEqual(['zuliprc']);
  });

  test('keep their keys and follow the service to another address', async () => {
    const folder = join(await temporaryFolder(), 'zuliprc');
    expect(readClientConfigurations(folder, new URL('http://x'))).toBeUndefined();
    writeClientConfigurations(folder, accounts, new URL('http://127.0.0.1:9991'));
    const moved = new URL('http://127.0.0.1:8080');
    expect(readClientConfigurations(folder, moved)).toEqual(accounts.toReversed());
    expect(await readFile(join(folder, 'bot.zuliprc'), 'utf8')).toContain('site=http://127.0.0.1:8080\n');
    expect((await stat(join(folder, 'bot.zuliprc'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toHaveLength(2);
  });
});
