/**
 * The process in which a function is imported and nothing else happens: what that took goes to the standard output as
 * JSON. Plain JavaScript, since stripping types would take time and memory of its own.
 */
import { peakMb } from './peak-memory.mjs';

const [, , url] = process.argv;
const [began, used] = [performance.now(), process.cpuUsage()];
await import(url);
const importMs = performance.now() - began;
const { user, system } = process.cpuUsage(used);

const heapMb = process.memoryUsage().heapUsed / 1024 / 1024;
process.stdout.write(JSON.stringify({ importMs, cpuMs: (user + system) / 1000, peakMb: peakMb(), heapMb }));
process.exit();
