/**
 * The inside of a function's thread: what Lambda's runtime does in its sandbox. It loads the function once, then
 * handles one event after the other. This file is handed to the thread as text, so it imports only Node's own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { FunctionError, Invocation, ThreadMessage, ThreadSetup } from './invocation.ts';

type Handler = (event: unknown, context: object) => unknown;

const setup: ThreadSetup = workerData;
/** Lambda's limit for a reply, in bytes. */
const largestReply = 6 * 1024 * 1024;

const say = (message: ThreadMessage) => parentPort?.postMessage(message);

const describe = (error: unknown): FunctionError =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] }
    : { errorType: typeof error, errorMessage: String(error), trace: [] };

const contextOf = ({ requestId, deadline }: Invocation) => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName: setup.functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: setup.functionArn,
  memoryLimitInMB: String(setup.memoryMb),
  awsRequestId: requestId,
  logGroupName: setup.logGroup,
  logStreamName: setup.logStream,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
});

const load = async (): Promise<Handler> => {
  const exported: Record<string, unknown> = await import(setup.module);
  const handler = exported[setup.handler];
  if (typeof handler !== 'function') throw new Error(`The module has no function named ${setup.handler}.`);
  return handler as Handler;
};

const handle = async (handler: Handler, invocation: Invocation): Promise<ThreadMessage> => {
  process.env._X_AMZN_TRACE_ID = invocation.traceId;
  try {
    const payload =
      JSON.stringify(await handler(JSON.parse(invocation.event), contextOf(invocation))) ?? 'null';
    if (Buffer.byteLength(payload) > largestReply) {
      throw new Error(`The reply is larger than the ${largestReply} bytes that Lambda allows.`);
    }
    return { kind: 'success', payload };
  } catch (error) {
    return { kind: 'failure', error: describe(error) };
  }
};

try {
  const handler = await load();
  parentPort?.on('message', async (invocation: Invocation) => say(await handle(handler, invocation)));
  say({ kind: 'ready' });
} catch (error) {
  say({ kind: 'failure', error: describe(error) });
}
