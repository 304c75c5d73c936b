import type { Node } from 'constructs';
import {
  missingSetting,
  type OperatorSetting,
  operatorSettings,
} from '../shared/endpoints/operator-setting.ts';

/**
 * What the operator set by CDK context (`-c pushRelayUrl=https://…`), by the names of the variables.
 *
 * @throws Error with the first invalid value, or the first that is missing beside another, so that it is not deployed
 */
export function operatorSettingsOf(node: Pick<Node, 'tryGetContext'>): ReadonlyMap<string, string> {
  const all: readonly (readonly [string, OperatorSetting])[] = Object.entries(operatorSettings);
  const values = new Map(
    all.flatMap(([name, { context, fallback, matches }]) => {
      const given: unknown = node.tryGetContext(context);
      const value = given === undefined || given === '' ? fallback : String(given);
      if (value === undefined) return [];
      if (!matches.test(value)) throw new Error(`The context value ${context} cannot be "${value}".`);
      return [[name, value] as const];
    }),
  );
  const pair = missingSetting((name) => values.has(name));
  if (pair !== undefined) {
    const [given, missing] = [operatorSettings[pair.given].context, operatorSettings[pair.missing].context];
    throw new Error(`The context value ${given} needs ${missing}, which is not set.`);
  }
  return values;
}
