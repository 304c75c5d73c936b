import { Refusal } from '../../shared/kernel/errors.ts';
import { StartProblem } from '../local/start-problem.ts';
import { help, readArguments, UsageProblem, type Wanted } from './arguments.ts';
import { faultOfAws } from './aws-fault.ts';
import { openKeyFile } from './key-file.ts';
import { reachService } from './place.ts';
import { verbs } from './verbs.ts';

/** What the command finds around it. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Takes the result: a link, a zuliprc, a list, the help. */
  readonly print: (text: string) => void;
  /** Takes a line for the person at the console. */
  readonly tell: (line: string) => void;
}

/**
 * Runs the command of the arguments. Returns the exit code: 0 if it was done, 1 if it was refused or failed, 2 if it
 * was not understood. An error is printed in one sentence.
 */
export async function runCommand(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    const wanted = readArguments(args);
    if (wanted === undefined) around.print(help());
    else await carryOut(wanted, around);
    return 0;
  } catch (error) {
    if (error instanceof UsageProblem) {
      around.tell(`${error.message} (npm run -s org -- --help)`);
      return 2;
    }
    const isPlanned = error instanceof Refusal || error instanceof StartProblem;
    const words = isPlanned ? error.message : faultOfAws(error);
    if (words === undefined) throw error;
    around.tell(words);
    return 1;
  }
}

/** Does what is wanted, and tells its result where it belongs. */
async function carryOut({ verb, given }: Wanted, { environment, print, tell }: Surroundings): Promise<void> {
  // npm runs scripts in the project's folder; the file is meant to be where npm was called.
  const file = given.out === undefined ? undefined : openKeyFile(given.out, environment.INIT_CWD ?? '.');
  let isTold = false;
  try {
    const service = await reachService(given, environment);
    try {
      const { result, notes } = await verbs[verb](service, given, tell);
      if (result !== undefined) (file?.write ?? print)(result);
      isTold = true;
      for (const note of notes) tell(note);
    } finally {
      await service.close();
    }
  } finally {
    if (!isTold) file?.discard();
  }
}
