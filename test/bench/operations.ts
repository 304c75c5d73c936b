import type { Operation } from './operation.ts';
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
