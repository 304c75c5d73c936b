import type { Node } from 'constructs';
import { operatorSettings } from '../shared/endpoints/operator-setting.ts';
import { deploymentSettings } from './deployment-settings.ts';

/** The names of CDK context that an operator may set. */
const known: readonly string[] = [
  ...Object.keys(deploymentSettings),
  ...Object.values(operatorSettings).map(({ context }) => context),
].sort();

/** The form of our names. Those of the CDK have colons, slashes or hyphens. */
const PLAIN = /^\w+$/;

/**
 * Checks that every value of context is read by something: otherwise a misspelled name would be deployed as if it were
 * not set.
 *
 * @throws Error with the first name that nothing reads
 */
export function checkContextNames(node: Pick<Node, 'getAllContext'>): void {
  const names = Object.keys(node.getAllContext() as object);
  const unknown = names.find((name) => PLAIN.test(name) && !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`There is no context value ${unknown}. There are: ${known.join(', ')}.`);
}
