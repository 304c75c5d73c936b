import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Microseconds after which a share begins again, as others have found that Lambda does it. */
const PERIOD = 20_000;

/** Where Linux has the groups that share processors, in its first and its second way to have them. */
const FIRST = '/sys/fs/cgroup/cpu';
const SECOND = '/sys/fs/cgroup';

/**
 * A group of processes that together have a share of a processor, by a quota of Linux. It goes before the other programs
 * of the machine, so that these disturb it less. Needs the rights of root.
 */
export class ProcessorShare {
  readonly #folder: string;
  readonly #isFirst: boolean;

  private constructor(folder: string, isFirst: boolean) {
    this.#folder = folder;
    this.#isFirst = isFirst;
  }

  /** Makes a group without a limit. @throws Error where groups cannot be made. */
  static async create(name: string): Promise<ProcessorShare> {
    const isFirst = existsSync(join(FIRST, 'cpu.cfs_quota_us'));
    const parent = isFirst ? FIRST : SECOND;
    const group = new ProcessorShare(join(parent, `${name}-${process.pid}`), isFirst);
    try {
      if (!isFirst) await writeFile(join(parent, 'cgroup.subtree_control'), '+cpu');
      await mkdir(group.#folder);
      if (isFirst) {
        await group.#set('cpu.shares', 262_144);
        await group.#set('cpu.cfs_period_us', PERIOD);
      } else await group.#set('cpu.weight', 10_000);
    } catch (cause) {
      throw new Error('Shares of a processor need Linux, and the rights of root.', { cause });
    }
    return group;
  }

  /** Limits it to so much of a processor (1 is a whole one), or lifts the limit. */
  async limit(share?: number): Promise<void> {
    const quota = share === undefined ? undefined : Math.round(share * PERIOD);
    if (this.#isFirst) await this.#set('cpu.cfs_quota_us', quota ?? -1);
    else await this.#set('cpu.max', `${quota ?? 'max'} ${PERIOD}`);
  }

  /** Takes a process in, with those that it starts from now on. */
  take(pid: number): Promise<void> {
    return this.#set('cgroup.procs', pid);
  }

  /** Removes the group. Processes that are still in it go on outside. */
  async remove(): Promise<void> {
    const left = await readFile(join(this.#folder, 'cgroup.procs'), 'utf8');
    for (const pid of left.split('\n').filter(Boolean)) {
      await writeFile(join(dirname(this.#folder), 'cgroup.procs'), pid);
    }
    await rmdir(this.#folder);
  }

  #set(file: string, value: string | number): Promise<void> {
    return writeFile(join(this.#folder, file), String(value));
  }
}
