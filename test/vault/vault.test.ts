import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyService } from '../../infra/local/key-service.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

let folder: string;
let server: Server;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlance-key-'));
  server = createKeyService(join(folder, 'key'));
  const address = await listenOnLoopback(server, 0);
  environment = {
    AWS_ENDPOINT_URL_KMS: address.origin,
    KEY_ARN: 'arn:aws:kms:us-east-1:000000000000:key/TokenKey',
  };
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const context = { realm: 'r1', userId: '8' };

describe('the vault', () => {
  test('opens what it sealed, which reveals nothing and differs each time', async () => {
    const vault = kmsVault(environment);
    const [one, two] = [await vault.seal('tökén', context), await vault.seal('tökén', context)];
    expect(await vault.open(one, context)).toBe('tökén');
    expect(one).not.toBe(two);
    expect(Buffer.from(one, 'base64').toString()).not.toContain('tökén');
  });

  test('opens nothing for another context, and nothing that was modified', async () => {
    const vault = kmsVault(environment);
    const sealed = await vault.seal('token', context);
    const changed = Buffer.from(sealed, 'base64');
    changed[14] = (changed[14] ?? 0) ^ 1;
    const refused = expect.objectContaining({ name: 'InvalidCiphertextException' });
    await expect(vault.open(sealed, { ...context, userId: '9' })).rejects.toEqual(refused);
    await expect(vault.open(changed.toString('base64'), context)).rejects.toEqual(refused);
    await expect(vault.open('AA==', context)).rejects.toEqual(refused);
  });

  test('has the same key after a restart, which only its owner can read', async () => {
    const sealed = await kmsVault(environment).seal('token', context);
    const again = createKeyService(join(folder, 'key'));
    const address = await listenOnLoopback(again, 0);
    try {
      const vault = kmsVault({ ...environment, AWS_ENDPOINT_URL_KMS: address.origin });
      expect(await vault.open(sealed, context)).toBe('token');
    } finally {
      again.close();
    }
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'key'))).toHaveLength(32);
  });
});
