/** Plain JavaScript, for processes whose own memory is measured. */
import { readFileSync } from 'node:fs';

/** The most memory (MB) that this program had; what its parent had before it counts in Node's own figure. */
export function peakMb() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}
