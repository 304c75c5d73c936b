import { type AddressInfo, createServer, type Server } from 'node:net';
import { StartProblem } from './start-problem.ts';

/**
 * Lets a server listen on the loopback interface, and nowhere else.
 *
 * @param port 0 for any free port.
 * @param variable The variable that sets the port, for the sentence that says what to do.
 * @returns The address, as `http://127.0.0.1:9991`.
 * @throws StartProblem when the port is taken or not allowed.
 */
export async function listenOnLoopback(server: Server, port: number, variable = 'PORT'): Promise<URL> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port, variable)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/**
 * Makes sure that a port is free, before anything else is started.
 *
 * @param variable The variable that sets the port, if it is not `PORT`.
 * @throws StartProblem when it is not.
 */
export async function checkPort(port: number, variable?: string): Promise<void> {
  await listenFor(port, variable);
}

/** A port that is free at this moment, for a program that cannot pick one itself. */
export const freePort = (): Promise<number> => listenFor(0);

async function listenFor(port: number, variable?: string): Promise<number> {
  const server = createServer();
  const address = await listenOnLoopback(server, port, variable);
  await new Promise((resolve) => server.close(resolve));
  return Number(address.port);
}

function explain(error: NodeJS.ErrnoException, port: number, variable: string): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartProblem(
      `Port ${port} is in use: stop what listens there, or set ${variable} to another one.`,
    );
  }
  if (error.code === 'EACCES')
    return new StartProblem(`Port ${port} may not be used: set ${variable} to one above 1023.`);
  return error;
}
