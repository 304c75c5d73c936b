/**
 * A process in which the bench runs one function: its bundle, and as little as possible besides. Plain JavaScript, since
 * types would be stripped in this process's memory.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { peakMb } from './peak-memory.mjs';

/** How far (ms) the function's clock is ahead. */
let ahead = 0;
const clock = Date.now;
Date.now = () => clock() + ahead;

let handler;
let loaded = 0;

async function load() {
  const began = performance.now();
  ({ handler } = await import(pathToFileURL(join(process.argv[2], 'index.mjs')).href));
  loaded = performance.now() - began;
}

process.on('message', async ({ event, seconds, passed }) => {
  if (!handler) await load();
  ahead = passed;
  const ends = Date.now() + 1000 * seconds;
  const began = performance.now();
  const { user: before } = process.cpuUsage();
  const reply = await handler(event, { getRemainingTimeInMillis: () => ends - Date.now() });
  const cpuMs = (process.cpuUsage().user - before) / 1000;
  // The first one takes what loading the function took, too.
  const ms = performance.now() - began + loaded;
  loaded = 0;
  process.send({ reply, ms, cpuMs, peakMb: peakMb() });
});
process.send('ready');
