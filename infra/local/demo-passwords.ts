import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outside } from '../../shared/kernel/outside.ts';
import { doSetPassword, hashPassword } from '../../shared/model/user/password.ts';
import type { Write } from '../../shared/table/write.ts';
import type { DemoAccount } from './demo.ts';

/** The password of a demo account. */
export interface DemoPassword {
  readonly userId: number;
  readonly email: string;
  readonly password: string;
}

const BYTES = 10;

/** Makes a password for each person of the demo; bots have none. 80 random bits, in groups that are easy to type. */
export const makePasswords = (
  { randomBytes }: Pick<Outside, 'randomBytes'>,
  accounts: readonly DemoAccount[],
): DemoPassword[] =>
  accounts
    .filter(({ name }) => name !== 'bot')
    .map(({ email, userId }) => {
      const groups = Buffer.from(randomBytes(BYTES)).toString('hex').match(/.{4}/g) ?? [];
      return { email, userId, password: groups.join('-') };
    });

/** The writes that store the passwords, as digests. They are made in turn, as the processors have other work at a start. */
export async function passwordWrites(
  { now, passwordCost }: Pick<Outside, 'now' | 'passwordCost'>,
  realm: string,
  passwords: readonly DemoPassword[],
): Promise<Write[]> {
  const writes: Write[] = [];
  for (const { userId, password } of passwords) {
    const hash = await hashPassword(password, passwordCost);
    writes.push(doSetPassword(realm, userId, { hash, changed: Math.floor(now() / 1000) }));
  }
  return writes;
}

const fileIn = (dataDirectory: string): string => join(dataDirectory, 'demo-passwords');

/** The file with the passwords; undefined if there is none, as in the folder of an earlier release. */
export const passwordFile = (dataDirectory: string): string | undefined =>
  existsSync(fileIn(dataDirectory)) ? fileIn(dataDirectory) : undefined;

/** Keeps the passwords in a file that only its owner may read. */
export function writePasswords(dataDirectory: string, passwords: readonly DemoPassword[]): void {
  const file = fileIn(dataDirectory);
  writeFileSync(`${file}.draft`, `${passwordLines(passwords).join('\n')}\n`, { mode: 0o600 });
  renameSync(`${file}.draft`, file);
}

/** A line for each password, with its address before it. */
export function passwordLines(passwords: readonly DemoPassword[]): string[] {
  const width = Math.max(...passwords.map(({ email }) => email.length));
  return passwords.map(({ email, password }) => `${email.padEnd(width)}  ${password}`);
}
