import fc from 'fast-check';
import { describe, it } from 'vitest';
import { play, story } from './story.ts';

/** How many stories `npm test` runs. A search for rare faults raises it, and repeats seeds that failed. */
const STORIES = Number(process.env.SURFACE_STORIES ?? 5);
const SEED = process.env.SURFACE_SEED;

describe('random edits by random callers, of channels, folders, groups, subscriptions and roles', () => {
  it(
    'never leave invalid or partial state, and never reveal anything to users who may not see it',
    async () => {
      await fc.assert(fc.asyncProperty(story, play), {
        numRuns: STORIES,
        endOnFailure: true,
        ...(SEED !== undefined && { seed: Number(SEED) }),
      });
    },
    60_000 + STORIES * 30_000,
  );
});
