import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { channelCases } from './cases/channels.ts';

describe('clients that follow events know what a registration tells: channels', () => {
  itFollows(channelCases);
});
