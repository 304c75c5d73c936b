import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ListenerProcess } from '../../infra/local/listener-process.ts';

const server = `
import { createServer } from 'node:http';
const [host, port] = process.env.AWS_LAMBDA_HTTP_ENDPOINT.split(':');
createServer((_, reply) => reply.end(String(process.pid))).listen(Number(port), host);
`;

/** A listener that answers with its process id; `ended` resolves when it ends by itself. */
async function givenProcess() {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-listener-'));
  await writeFile(join(directory, 'index.mjs'), server);
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  const listener = await ListenerProcess.start({ directory, environment: {}, onOutput: () => {}, onEnd });
  onTestFinished(async () => {
    await listener.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const pid = async () => Number(await (await fetch(`http://127.0.0.1:${listener.port}`)).text());
  return { listener, ended, pid };
}

/** The process group of a process: the shell that watches over it leads the group. */
async function groupOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pgid=', '-p', String(pid)]);
  return Number(stdout);
}

test.each(['the server', 'its whole group'])(
  'a listener is started again when %s is killed',
  async (what) => {
    const { listener, ended, pid } = await givenProcess();
    const before = await pid();
    process.kill(what === 'the server' ? before : -(await groupOf(before)), 'SIGKILL');
    await ended;
    await listener.ready;
    expect(await pid()).not.toBe(before);
  },
);

test.each(['the server', 'its whole group'])(
  'a listener stops while it is about to start again, after %s was killed',
  async (what) => {
    const { listener, ended, pid } = await givenProcess();
    const before = await pid();
    process.kill(what === 'the server' ? before : -(await groupOf(before)), 'SIGKILL');
    await ended;
    const { ready } = listener;
    await listener.stop();
    await ready;
    await expect(pid()).rejects.toThrow();
  },
);
