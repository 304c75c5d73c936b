import { isDeepStrictEqual } from 'node:util';
import type { Listener } from '../../shared/endpoints/listener.ts';
import type { LambdaFunction } from './template.ts';

/**
 * The Web Function of a listener: what the functions of its endpoints may do and know, together. Its code lies in a
 * folder of the assembly that is named after it.
 *
 * @throws Error when the template lacks one of the functions.
 */
export function webFunctionOf(
  listener: Listener,
  functions: readonly LambdaFunction[],
  directory: string,
): LambdaFunction {
  const served = listener.endpoints.map(({ id }) => {
    const found = functions.find(({ name }) => name.endsWith(`-${nameOf(id)}`));
    if (!found) throw new Error(`The template has no function for ${id}.`);
    return found;
  });
  const [first] = served as [LambdaFunction, ...LambdaFunction[]];
  const statements = served.flatMap((lambda) => lambda.statements);
  return {
    ...first,
    name: first.name.replace(nameOf(listener.endpoints[0]?.id ?? ''), nameOf(listener.id)),
    directory,
    statements: statements.filter(
      (one, i) => statements.findIndex((other) => isDeepStrictEqual(one, other)) === i,
    ),
    environment: Object.assign({}, ...served.map(({ environment }) => environment)),
    memoryMb: listener.memory,
    timeoutSeconds: listener.timeout,
  };
}

/** What stands of an id in the name of a function. */
const nameOf = (id: string): string => id.replace('.', '-');
