import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import type { Manifest } from '../../shared/domain/export/archive-file.ts';
import { recordSections } from '../../shared/domain/export/realm-export.ts';
import { ExportCheck, type ExportRecord } from './export-check.ts';

/** What was found in the archive of a data export. */
export interface Inspection {
  /** The account of the archive; absent where its end is missing. */
  readonly manifest: Manifest | undefined;
  /** Records that were found, by folder. */
  readonly counts: Readonly<Record<string, number>>;
  readonly files: number;
  /** What is wrong with it, at most the first hundred things, in sentences. */
  readonly problems: readonly string[];
}

export interface Inspecting {
  /** Gets each record, with the folder that it stands in. */
  readonly onRecord?: (section: string, record: ExportRecord) => void;
  /** Gets each other file. */
  readonly onFile?: (name: string, bytes: Buffer) => void;
}

/** A numbered file of records. */
const RECORDS = /^(\w+)\/(\d{6})\.jsonl$/;

/**
 * Reads the archive of a data export and checks it: that it is whole, that its files are in order, that ids are
 * there once and that nothing is named which is not in it. One file at a time is in memory.
 *
 * Throws an error if the file is not an archive.
 */
export async function inspectExport(archive: Readable, inspecting: Inspecting = {}): Promise<Inspection> {
  const { onRecord = () => {}, onFile = () => {} } = inspecting;
  const check = new ExportCheck();
  const counts: Record<string, number> = Object.fromEntries(recordSections.map((name) => [name, 0]));
  const lastFile: Record<string, number> = {};
  let manifest: Manifest | undefined;
  let files = 0;

  const read = (name: string, bytes: Buffer): void => {
    const [, section = '', number = ''] = RECORDS.exec(name) ?? [];
    if (section !== '') {
      if (Number(number) !== (lastFile[section] ?? 0) + 1) check.problem(`${name} is out of order.`);
      lastFile[section] = Number(number);
      for (const line of bytes.toString().split('\n').slice(0, -1)) {
        const record: ExportRecord = JSON.parse(line);
        counts[section] = (counts[section] ?? 0) + 1;
        check.record(section, record);
        onRecord(section, record);
      }
      return;
    }
    if (name === 'manifest.json') manifest = JSON.parse(bytes.toString());
    else if (name === 'organization.json') check.organization(JSON.parse(bytes.toString()));
    else check.file(name);
    onFile(name, bytes);
  };

  const entries = extract();
  const readAll = async (): Promise<void> => {
    for await (const entry of entries) {
      if (manifest) check.problem(`${entry.header.name} stands behind the end.`);
      const chunks: Buffer[] = [];
      for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
      files++;
      // All files are in one folder, which is named for the export.
      read(entry.header.name.replace(/^[^/]*\//, ''), Buffer.concat(chunks));
    }
  };
  await Promise.all([pipeline(archive, createGunzip(), entries), readAll()]);
  check.end(manifest, counts);
  return { manifest, counts, files, problems: check.problems };
}
