import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PasswordCost } from '../../shared/kernel/outside.ts';
import { passwordCost as usualCost } from '../../shared/model/user/password.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import type { Write } from '../../shared/table/write.ts';
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
  /** What a password costs to hash, if not as much as in a deployment. */
  readonly passwordCost?: PasswordCost;
}

/** Where the demo organization will be. */
export interface DemoPlace {
  /** The address that clients use. */
  readonly site: URL;
  /** Where the table is: the variables that a function would have. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The demo organization as it will be made; absent if its files are there. */
interface Founding {
  readonly seed: Buffer;
  /** The seed is that of a start that did not come to its end. */
  readonly isKept: boolean;
  readonly plan: ReturnType<typeof planDemo>;
  readonly passwords: readonly DemoPassword[];
  readonly passwordWrites: readonly Write[];
}

export interface PreparedDemo {
  readonly dataDirectory: string;
  readonly founding: Founding | undefined;
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

const folderIn = (dataDirectory: string): string => join(dataDirectory, 'zuliprc');
const seedIn = (dataDirectory: string): string => join(dataDirectory, 'demo-seed');

/**
 * Does what the demo organization needs before there is a table for it, if its files are not there yet: hashing five passwords
 * takes a second.
 */
export async function prepareDemo({
  dataDirectory,
  passwordCost = usualCost,
}: DemoOptions): Promise<PreparedDemo> {
  if (existsSync(folderIn(dataDirectory))) return { dataDirectory, founding: undefined };
  const seedFile = seedIn(dataDirectory);
  const isKept = existsSync(seedFile);
  const seed = isKept ? readFileSync(seedFile) : randomBytes(32);
  const outside = { now: Date.now, uuid: randomUUID, randomBytes: bytesFrom(seed), passwordCost };
  const plan = planDemo(outside, { name: 'Parlance' });
  const passwords = makePasswords(outside, plan.demo.accounts);
  const writes = await passwordWrites(outside, plan.demo.realm, passwords);
  return { dataDirectory, founding: { seed, isKept, plan, passwords, passwordWrites: writes } };
}

/**
 * Makes the demo organization with its files, if they are not there yet: the clients' configurations, and the passwords.
 *
 * The table keeps only digests of keys and passwords, so between the organization and its files nothing may be lost. They
 * follow from a seed that is kept in a file until theirs are written: a start after an interruption makes the same again.
 */
export async function ensureDemo(prepared: PreparedDemo, { site, environment }: DemoPlace): Promise<Demo> {
  const { dataDirectory, founding } = prepared;
  const folder = folderIn(dataDirectory);
  const seedFile = seedIn(dataDirectory);
  if (!founding) {
    const accounts = readClientConfigurations(folder, site);
    rmSync(seedFile, { force: true });
    return { folder, accounts, created: false, passwordFile: passwordFile(dataDirectory) };
  }

  const { seed, isKept, plan, passwords } = founding;
  const { accounts } = plan.demo;
  writeSeed(seedFile, seed);
  const outcome = await plan.create(makeOutside(environment), founding.passwordWrites);
  // There already, and not from this seed: its files were removed, and its keys went with them.
  const lost = outcome === 'exists' && !isKept;
  if (!lost) {
    writePasswords(dataDirectory, passwords);
    writeClientConfigurations(folder, accounts, site);
  }
  rmSync(seedFile);
  return {
    folder,
    accounts: lost ? undefined : accounts,
    created: outcome === 'created',
    ...(!lost && { passwords }),
    passwordFile: passwordFile(dataDirectory),
  };
}

function writeSeed(file: string, seed: Buffer): void {
  writeFileSync(`${file}.draft`, seed, { mode: 0o600 });
  renameSync(`${file}.draft`, file);
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
