/** `npm run org`: the operator's way to organizations and accounts, on this machine or in a deployed stack. */
import { runCommand } from './org/command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  print: (text) => void process.stdout.write(text),
  tell: (line) => console.error(line),
});
