import { writes } from './endpoint.ts';
import type { ScheduledWorker } from './worker.ts';

export const retention: ScheduledWorker = {
  id: 'retention',
  description:
    'Removes messages that have had the days of their channel or organization; while it fails, they stay.',
  schedule: { everyMinutes: 60 },
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
  timeout: 900,
  // Eight organizations at once, each with at most a hundred of the longest messages.
  memory: 512,
};
