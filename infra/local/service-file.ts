import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the service of a data folder is, or was when it ran last. */
export interface ServicePlace {
  /** The address that clients use. */
  readonly site: URL;
  /** Where its DynamoDB answers while it runs. */
  readonly dynamodb: URL;
  readonly region: string;
  readonly table: string;
}

const fileIn = (dataDirectory: string): string => join(dataDirectory, 'service.json');

/** Lets other commands find the service, also when it does not run any more. */
export function rememberService(
  dataDirectory: string,
  { site, dynamodb, region, table }: ServicePlace,
): void {
  const file = fileIn(dataDirectory);
  const text = JSON.stringify({ site: site.origin, dynamodb: dynamodb.origin, region, table });
  writeFileSync(`${file}.draft`, text);
  renameSync(`${file}.draft`, file);
}

/** Nobody is to look for the service where it was last time, until it says where it is now. */
export const forgetService = (dataDirectory: string): void => rmSync(fileIn(dataDirectory), { force: true });

/** Where the service is; nothing while it starts, or if it never did. */
export function findService(dataDirectory: string): ServicePlace | undefined {
  let text: string;
  try {
    text = readFileSync(fileIn(dataDirectory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const { site, dynamodb, region, table } = JSON.parse(text);
  return { site: new URL(site), dynamodb: new URL(dynamodb), region, table };
}
