import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { callCases } from './cases/calls.ts';
import { exportCases } from './cases/exports.ts';
import { pushCases } from './cases/push.ts';

describe('clients that follow events end with the state that a new registration returns: video calls, notifications and exports', () => {
  itFollows([...callCases, ...pushCases, ...exportCases]);
});
