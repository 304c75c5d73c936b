import type { Node } from 'constructs';
import { operatorSettings } from '../shared/endpoints/operator-setting.ts';
import { deploymentSettings } from './deployment-settings.ts';

/** The names that an operator may give values of CDK context. */
const known: readonly string[] = [
  ...Object.keys(deploymentSettings),
  ...Object.values(operatorSettings).map(({ context }) => context),
].sort();

/** A name as ours are. Those of the CDK itself have colons, slashes or hyphens. */
const PLAIN = /^\w+$/;

/**
 * Checks that every value of context is one that something reads: a name that is written wrong would else be deployed
 * as if it were not set.
 *
 * @throws Error naming the first one that nothing reads.
 */
export function checkContextNames(node: Pick<Node, 'getAllContext'>): void {
  const names = Object.keys(node.getAllContext() as object);
  const unknown = names.find((name) => PLAIN.test(name) && !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`There is no context value ${unknown}. There are: ${known.join(', ')}.`);
}
