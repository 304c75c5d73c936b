import { readFile } from 'node:fs/promises';

/** What processes use. */
export interface Usage {
  /** Seconds of processor time so far. */
  readonly cpuSeconds: number;
  /** The sum of what each of them had in memory at most, MB. */
  readonly peakMb: number;
}

/** Ticks of the processor's clock in a second, as Linux tells them to programs on every machine. */
const TICKS = 100;

/**
 * What all processes use by now that this one has started, and those that they have. Nothing where the system does not
 * tell (only Linux does).
 */
export async function usageOfChildren(): Promise<Usage | undefined> {
  if (process.platform !== 'linux') return undefined;
  const all = await Promise.all((await descendantsOf(process.pid)).map(usageOf));
  return {
    cpuSeconds: all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakMb: all.reduce((sum, { peakMb }) => sum + peakMb, 0),
  };
}

/**
 * Memory (MB) that these processes have now. What several of them share counts once. Nothing where the system does not
 * tell.
 */
export async function memoryOfChildren(): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const all = await Promise.all((await descendantsOf(process.pid)).map((pid) => read(pid, 'smaps_rollup')));
  return all.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024, 0);
}

/** What one process uses; one that has just ended uses nothing. */
async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([read(pid, 'stat'), read(pid, 'status')]);
  // The name of the program, in brackets, may hold anything; the times are 12 and 13 fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpuSeconds: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS,
    peakMb: Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024,
  };
}

async function descendantsOf(pid: number): Promise<number[]> {
  const children = (await read(pid, `task/${pid}/children`)).split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}

const read = (pid: number, name: string): Promise<string> =>
  readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
