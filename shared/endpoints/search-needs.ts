import { SEARCH } from '../domain/search/pointer.ts';
import { SEARCH_QUEUE } from '../kernel/wake-up.ts';

/** What a function needs that searches in the index: it reads segments, and wakes their worker if one is damaged. */
export const searches = {
  queues: [SEARCH_QUEUE],
  buckets: { [SEARCH]: ['GetObject'] },
} as const;
