/**
 * The process in which `export.ts` has the worker run: the bundle, and as little as possible besides. Plain
 * JavaScript, since types would be stripped in this process's memory.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { handler } = await import(pathToFileURL(join(process.argv[2], 'index.mjs')).href);

process.on('message', async ({ body, seconds }) => {
  const ends = Date.now() + 1000 * seconds;
  const record = { messageId: 'measured', body, attributes: { ApproximateReceiveCount: '1' } };
  const reply = await handler({ Records: [record] }, { getRemainingTimeInMillis: () => ends - Date.now() });
  const peak = process.resourceUsage().maxRSS / 1024;
  process.send({ failed: reply.batchItemFailures.length > 0, peak });
});
