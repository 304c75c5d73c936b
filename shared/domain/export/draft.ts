import { type ArchiveFile, memberOf } from './archive.ts';
import type { Room } from './section.ts';

/** Most records of one file, and about how many characters. Both keep a file well within memory. */
const FILE: Room = { lines: 1_000, bytes: 4 * 1024 * 1024 };

/** What has been made of an archive and is not in a part of its upload: finished gzip members, and lines of a file. */
export class Draft {
  readonly #time: number;
  #members: Uint8Array[];
  #size: number;
  #lines: string[] = [];
  #bytes = 0;

  /**
   * @param time what the files of the archive have as their time, ms
   * @param members what an earlier run left
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

  /** What the file in the making still takes. */
  get room(): Room {
    return { lines: FILE.lines - this.#lines.length, bytes: FILE.bytes - this.#bytes };
  }

  get isFull(): boolean {
    return this.room.lines <= 0 || this.room.bytes <= 0;
  }

  /** Whether there is a file in the making. */
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
