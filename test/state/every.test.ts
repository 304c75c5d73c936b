import { describe, expect, it } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { eventShapes } from '../../shared/openapi/event-shapes.ts';
import { callCases } from './cases/calls.ts';
import { channelCases } from './cases/channels.ts';
import { exportCases } from './cases/exports.ts';
import { groupCases } from './cases/groups.ts';
import { messageCases } from './cases/messages.ts';
import { organizationCases } from './cases/organization.ts';
import { peopleCases } from './cases/people.ts';
import { personalCases } from './cases/personal.ts';
import { pushCases } from './cases/push.ts';
import { subscriptionCases } from './cases/subscriptions.ts';
import { followedEvents } from './follow.ts';

const cases = [
  ...callCases,
  ...channelCases,
  ...exportCases,
  ...groupCases,
  ...messageCases,
  ...organizationCases,
  ...peopleCases,
  ...personalCases,
  ...pushCases,
  ...subscriptionCases,
];

describe('the test cases of clients that follow events', () => {
  it('cover every endpoint that changes anything', () => {
    const covered = new Set(cases.flatMap(({ calls }) => calls.map(({ endpoint }) => endpoint.id)));
    const writing = endpoints.filter(({ method }) => method !== 'GET').map(({ id }) => id);
    expect(writing.filter((id) => !covered.has(id))).toEqual([]);
  });

  it('handle every kind of event', () => {
    expect([...followedEvents].sort()).toEqual(Object.keys(eventShapes).sort());
  });
});
