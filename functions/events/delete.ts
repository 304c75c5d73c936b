import { deleteQueue, placeOf } from '../../shared/domain/event/queue.ts';
import { deleteQueue as declaration } from '../../shared/endpoints/events.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(declaration, {
  run: async ({ input: { queue_id: queueId }, realm, userId, outside }) => {
    const isDeleted = await deleteQueue(outside.table, realm, queueId, userId, outside.uuid());
    if (!isDeleted) throw refusal('badQueue', { queueId });
    outside.waitingRoom?.at(placeOf(realm, queueId))?.end();
    return {};
  },
});
