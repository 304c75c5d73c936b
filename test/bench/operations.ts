import type { Operation } from './operation.ts';
import { busyMessageOperations } from './operations/busy-message.ts';
import { channelOperations } from './operations/channels.ts';
import { messageOperations } from './operations/messages.ts';
import { organizationOperations } from './operations/organization.ts';
import { outsideOperations } from './operations/outside.ts';
import { peopleOperations } from './operations/people.ts';
import { personalOperations } from './operations/personal.ts';

/** Something for each endpoint, and the variants that differ in what they cost. */
export const operations: readonly Operation[] = [
  ...messageOperations,
  ...peopleOperations,
  ...personalOperations,
  ...channelOperations,
  ...organizationOperations,
  ...outsideOperations,
];

/** The operation of this name, those on a message with many reactions among them. Throws if there is none. */
export function operationNamed(name: string): Operation {
  const found = [...operations, ...busyMessageOperations].find((operation) => operation.name === name);
  if (!found) throw new Error(`There is no operation '${name}'.`);
  return found;
}
