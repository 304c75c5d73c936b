/**
 * The process in which a function is imported and nothing else happens: what that took goes to the standard output as
 * JSON. Plain JavaScript, since stripping types would take time and memory of its own.
 */
import { readFileSync } from 'node:fs';

const [, , url] = process.argv;
const [began, used] = [performance.now(), process.cpuUsage()];
await import(url);
const importMs = performance.now() - began;
const { user, system } = process.cpuUsage(used);

/** The most memory (MB) that this program had; what its parent had before it counts in Node's own figure. */
function peakMb() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

const heapMb = process.memoryUsage().heapUsed / 1024 / 1024;
process.stdout.write(JSON.stringify({ importMs, cpuMs: (user + system) / 1000, peakMb: peakMb(), heapMb }));
process.exit();
