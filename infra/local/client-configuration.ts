import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientConfiguration } from '../../shared/model/user/client-configuration.ts';

/** An account as a client has to know it. */
export interface ClientAccount {
  /** What the account's file is called, without its extension. */
  readonly name: string;
  readonly email: string;
  readonly apiKey: string;
}

const extension = '.zuliprc';

/**
 * Writes the configuration files of official clients, all of them or none.
 *
 * @param folder A folder that does not exist yet.
 * @param site The address of the service.
 */
export function writeClientConfigurations(
  folder: string,
  accounts: readonly ClientAccount[],
  site: URL,
): void {
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  for (const account of accounts) {
    writeFileSync(
      join(draft, `${account.name}${extension}`),
      clientConfiguration(account.email, account.apiKey, site.origin),
      {
        mode: 0o600,
      },
    );
  }
  renameSync(draft, folder);
}

/**
 * Reads the files back, in the order of their names, and puts the service's address of now into those that have
 * another. Nothing if the folder is not there.
 */
export function readClientConfigurations(folder: string, site: URL): ClientAccount[] | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter((name) => name.endsWith(extension));
  return names.sort().flatMap((file) => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const value = (name: string) => new RegExp(`^${name}\\s*=\\s*(.*)$`, 'm').exec(text)?.[1]?.trim();
    const [email, apiKey] = [value('email'), value('key')];
    if (email === undefined || apiKey === undefined) return [];
    const account = { name: file.slice(0, -extension.length), email, apiKey };
    if (value('site') !== site.origin) {
      writeFileSync(`${path}.draft`, clientConfiguration(account.email, account.apiKey, site.origin), {
        mode: 0o600,
      });
      renameSync(`${path}.draft`, path);
    }
    return [account];
  });
}
