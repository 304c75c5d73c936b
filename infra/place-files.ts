import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts a file in another place too. It becomes a second name of the same file, which takes no time and no room, or a copy where
 * there can be none, as on another disk. So both are replaced when they change, never written to.
 *
 * @param to Nothing may be there yet.
 */
export async function placeFile(from: string, to: string): Promise<void> {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    return copyFile(from, to);
  });
}

/** Puts every file of a folder in another place too, in the same way. */
export async function placeFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const entries = await readdir(from, { withFileTypes: true });
  await Promise.all(
    entries.map((entry) => {
      const place = entry.isDirectory() ? placeFolder : placeFile;
      return place(join(from, entry.name), join(to, entry.name));
    }),
  );
}
