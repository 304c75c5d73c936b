import { sqsQueues } from '../../shared/adapters/queues.ts';
import { EXPORT_QUEUE, type ExportJob } from '../../shared/domain/export/realm-export.ts';
import {
  checkExport,
  doRequestExport,
  type ExportSnapshot,
  loadExportSnapshot,
} from '../../shared/domain/export/request.ts';
import { createExport } from '../../shared/endpoints/exports.ts';
import { traceOf } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

const owners: LookupKey<'owners'> = { kind: 'owners' };

/** Seconds after which the commit has happened or never will: no function runs that long. */
const DECIDED = 60;

/*
 * The first message is sent before the commit and delayed until after it, so that no committed export is lost, even if
 * this function dies. The second message only makes the worker start at once; the worker ignores duplicates.
 */
export const handler = serveByRole(
  createExport,
  {
    keys: ({ export_type: type }) => (type === 'full_with_consent' ? [owners] : []),
    load: ({ input, realm, resolved, outside }): Promise<ExportSnapshot> => {
      const asked = input.export_type === 'full_with_consent' ? resolved.follow(owners) : undefined;
      return loadExportSnapshot(outside.table, realm, asked);
    },
    reserve: 1,
    run: async ({ input, realm, caller, outside, clients, commit }, snapshot) => {
      const type = input.export_type ?? 'public';
      const now = outside.now();
      checkExport(caller, type, snapshot, now);
      const job: ExportJob = { realm, token: outside.uuid() };
      await clients.queues.send(EXPORT_QUEUE, job, DECIDED);
      const reply = await commit(1, ([exportId = 0]) =>
        doRequestExport(caller, { exportId, token: job.token, type }, snapshot, now),
      );
      await clients.queues.send(EXPORT_QUEUE, job).catch((error: Error) => {
        outside.report({
          level: 'WARN',
          message: 'export worker not woken',
          exportId: reply.id,
          error: traceOf(error),
        });
      });
      return reply;
    },
  },
  { queues: sqsQueues },
);
