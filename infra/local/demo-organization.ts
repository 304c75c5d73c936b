import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PasswordCost } from '../../shared/kernel/outside.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import {
  type ClientAccount,
  readClientConfigurations,
  writeClientConfigurations,
} from './client-configuration.ts';
import { planDemo } from './demo.ts';
import {
  type DemoPassword,
  makePasswords,
  passwordFile,
  passwordWrites,
  writePasswords,
} from './demo-passwords.ts';

export interface DemoOptions {
  readonly dataDirectory: string;
  /** The address that clients use. */
  readonly site: URL;
  /** Where the table is: the variables that a function would have. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a password costs to hash, if not as much as in a deployment. */
  readonly passwordCost?: PasswordCost;
}

/** The organization's accounts and the folder of their files, or nothing of them if the files are lost. */
export interface Demo {
  readonly folder: string;
  readonly accounts: readonly ClientAccount[] | undefined;
  readonly created: boolean;
  /** The passwords, if they were made just now. */
  readonly passwords?: readonly DemoPassword[];
  /** The file with the passwords, if there is one. */
  readonly passwordFile: string | undefined;
}

/**
 * Makes the demo organization with its files, if they are not there yet: the clients' configurations, and the passwords.
 *
 * The table keeps only digests of keys and passwords, so between the organization and its files nothing may be lost. They
 * follow from a seed that is kept in a file until theirs are written: a start after an interruption makes the same again.
 */
export async function ensureDemo(options: DemoOptions): Promise<Demo> {
  const { dataDirectory, site, environment, passwordCost } = options;
  const folder = join(dataDirectory, 'zuliprc');
  const seedFile = join(dataDirectory, 'demo-seed');
  const kept = readClientConfigurations(folder, site);
  if (kept) {
    rmSync(seedFile, { force: true });
    return { folder, accounts: kept, created: false, passwordFile: passwordFile(dataDirectory) };
  }

  const interrupted = existsSync(seedFile);
  const seed = interrupted ? readFileSync(seedFile) : writeSeed(seedFile);
  const outside = {
    ...makeOutside(environment),
    ...(passwordCost && { passwordCost }),
    randomBytes: bytesFrom(seed),
  };
  const { demo, create } = planDemo(outside, { name: 'Parlance' });
  const passwords = makePasswords(outside, demo.accounts);
  const outcome = await create(await passwordWrites(outside, demo.realm, passwords));
  // There already, and not from this seed: its files were removed, and its keys went with them.
  const lost = outcome === 'exists' && !interrupted;
  if (!lost) {
    writePasswords(dataDirectory, passwords);
    writeClientConfigurations(folder, demo.accounts, site);
  }
  rmSync(seedFile);
  return {
    folder,
    accounts: lost ? undefined : demo.accounts,
    created: outcome === 'created',
    ...(!lost && { passwords }),
    passwordFile: passwordFile(dataDirectory),
  };
}

function writeSeed(file: string): Buffer {
  const seed = randomBytes(32);
  writeFileSync(`${file}.draft`, seed, { mode: 0o600 });
  renameSync(`${file}.draft`, file);
  return seed;
}

/** A source of bytes that are always the same for a seed, and cannot be guessed without it. */
function bytesFrom(seed: Buffer): (count: number) => Buffer {
  let block = 0;
  return (count) => {
    const blocks: Buffer[] = [];
    for (let size = 0; size < count; size += 32) {
      blocks.push(createHmac('sha256', seed).update(String(block++)).digest());
    }
    return Buffer.concat(blocks).subarray(0, count);
  };
}
