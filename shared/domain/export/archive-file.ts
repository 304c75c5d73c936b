import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Objects } from '../../kernel/outside.ts';
import type { HistoryVisibility } from '../../model/realm/realm.ts';
import type { Table } from '../../table/table.ts';
import type { ExportPlan, Scope } from './plan.ts';
import type { From } from './realm-export.ts';

/** Most records and approximate characters of one file. Both keep a file well within memory. */
const FILE: Room = { lines: 1_000, bytes: 4 * 1024 * 1024 };

/** The part of the archive that is not uploaded yet: finished gzip members, and the lines of the open file. */
export class Draft {
  readonly #time: number;
  #members: Uint8Array[];
  #size: number;
  #lines: string[] = [];
  #bytes = 0;

  /**
   * @param time the modification time of the files, ms
   * @param members finished members of an earlier run
   */
  constructor(time: number, members: Uint8Array | undefined) {
    this.#time = time;
    this.#members = members === undefined ? [] : [members];
    this.#size = members?.byteLength ?? 0;
  }

  /** Bytes of finished members. */
  get size(): number {
    return this.#size;
  }

  /** The room left in the open file. */
  get room(): Room {
    return { lines: FILE.lines - this.#lines.length, bytes: FILE.bytes - this.#bytes };
  }

  get isFull(): boolean {
    return this.room.lines <= 0 || this.room.bytes <= 0;
  }

  /** Whether a file is open. */
  get isOpen(): boolean {
    return this.#lines.length > 0;
  }

  addLines(lines: readonly string[]): void {
    this.#lines.push(...lines);
    for (const line of lines) this.#bytes += line.length;
  }

  async addFile(file: ArchiveFile): Promise<void> {
    this.addMember(await memberOf(file, this.#time));
  }

  addMember(member: Uint8Array): void {
    this.#members.push(member);
    this.#size += member.byteLength;
  }

  /** Finishes the file in the making, under this name. */
  async closeFile(name: string): Promise<void> {
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
    this.#bytes = 0;
    await this.addFile({ name, bytes });
  }

  /** The finished members, which are the caller's from now on. */
  takeMembers(): Uint8Array {
    const taken = Buffer.concat(this.#members);
    this.#members = [];
    this.#size = 0;
    return taken;
  }
}

const compressed = promisify(gzip);

/** Bytes at the end of a tar archive: two empty blocks. */
const CLOSING = 1_024;

/** A file on its way into an archive. */
export interface ArchiveFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The last file of an archive: without it, something is missing. */
export interface Manifest {
  readonly format: 'parlance-export';
  /** Grows with each incompatible change of the format. */
  readonly version: 1;
  readonly export_id: number;
  readonly export_type: string;
  /** Seconds since 1970. */
  readonly export_time: number;
  /** Records, by folder. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * A file of a tar archive as a gzip member of its own. Members in sequence are one gzip stream, so each run can
 * add its own.
 *
 * @param time the file's modification time, ms
 */
export async function memberOf({ name, bytes }: ArchiveFile, time: number): Promise<Buffer> {
  const tar = pack();
  tar.entry(
    { name, mode: 0o600, mtime: new Date(time) },
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk);
  return compressed(Buffer.concat(chunks).subarray(0, -CLOSING));
}

/** The last member of an archive. */
export const closingMember = (): Promise<Buffer> => compressed(Buffer.alloc(CLOSING));

/** What the sections of an archive are made from. */
export interface Snapshot {
  readonly table: Table;
  readonly realm: string;
  readonly plan: ExportPlan;
  readonly scope: Scope;
  readonly objects: Pick<Objects, 'get'>;
  /** Which earlier versions of messages are exported. */
  readonly historyVisibility: HistoryVisibility;
}

/** How much room a file has left. */
export interface Room {
  readonly lines: number;
  readonly bytes: number;
}

/** A part of a section that fits into memory. */
export interface SectionPage {
  /** Records, each as JSON in one line. */
  readonly lines?: readonly string[];
  /** Files other than records. */
  readonly files?: readonly ArchiveFile[];
  /** Where the section continues; undefined at its end. */
  readonly next: From | undefined;
}

/** Reads the next page of a section: at most `room.lines` lines, and not many more than `room.bytes` bytes. */
export type Section = (snapshot: Snapshot, from: From, room: Room) => Promise<SectionPage>;
