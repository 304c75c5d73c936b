/**
 * A process in which the bench runs one function: its bundle, and as little as possible besides. Plain JavaScript, since
 * types would be stripped in this process's memory.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

let began = performance.now();
const { handler } = await import(pathToFileURL(join(process.argv[2], 'index.mjs')).href);
const loaded = performance.now() - began;
let isFirst = true;

process.on('message', async ({ event, seconds }) => {
  const ends = Date.now() + 1000 * seconds;
  began = performance.now();
  const { user: before } = process.cpuUsage();
  const reply = await handler(event, { getRemainingTimeInMillis: () => ends - Date.now() });
  // The first one takes what loading the function took, too.
  const ms = performance.now() - began + (isFirst ? loaded : 0);
  isFirst = false;
  const cpuMs = (process.cpuUsage().user - before) / 1000;
  process.send({ reply, ms, cpuMs, peakMb: process.resourceUsage().maxRSS / 1024 });
});
