import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { channelCases } from './cases/channels.ts';

describe('clients that follow events end with the state that a new registration returns: channels', () => {
  itFollows(channelCases);
});
