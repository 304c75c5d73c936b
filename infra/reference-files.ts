import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { placeOf, referenceFiles } from '../shared/openapi/reference.ts';
import { placeFile } from './place-files.ts';

/** The module whose functions serve the files. */
export const referenceModule = 'shared/openapi/reference.ts';

/** Puts the files of the reference page into `<folder>/reference`: they are too large to be part of a bundle. */
export async function placeReference(folder: string): Promise<void> {
  const target = join(folder, 'reference');
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await Promise.all(referenceFiles.map((name) => placeFile(placeOf(name), join(target, name))));
}
