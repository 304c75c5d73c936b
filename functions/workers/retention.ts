import { enforceRetention } from '../../shared/domain/retention/keep-limits.ts';
import { retention } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(retention, enforceRetention);
