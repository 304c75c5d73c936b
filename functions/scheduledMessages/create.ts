import { sqsQueues } from '../../shared/adapters/queues.ts';
import { checkTime, wakeForDue } from '../../shared/domain/scheduled/due.ts';
import {
  asSendRequest,
  checkRoomForScheduled,
  doSchedule,
  loadScheduled,
  parsePlace,
} from '../../shared/domain/scheduled/scheduled-message.ts';
import { draftOf, sendLookupKeys } from '../../shared/domain/send/request.ts';
import { acceptMessage, loadSend } from '../../shared/domain/send/target.ts';
import { createScheduledMessage } from '../../shared/endpoints/scheduled-messages.ts';
import { normalizedContent } from '../../shared/model/message/message.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  createScheduledMessage,
  {
    parse: ({ content, scheduled_delivery_timestamp: deliverAt, read_by_sender: readBySender, ...to }) => {
      const given = { place: parsePlace(to), content: normalizedContent(content), deliverAt };
      return { given, request: asSendRequest(given, readBySender) };
    },
    keys: ({ request }) => sendLookupKeys(request),
    load: async (unverified) => {
      const { outside, realm, userId, input, resolved } = unverified;
      const [snapshot, scheduled] = await Promise.all([
        loadSend(outside, unverified, input.request, resolved),
        loadScheduled(outside.table, realm, userId),
      ]);
      return { snapshot, scheduled };
    },
    reserve: 1,
    run: async ({ input, client, baseUrl, ...verified }, loaded) => {
      const { outside, realm, userId, caller, commit, clients } = verified;
      const { given, request } = input;
      checkTime(given.deliverAt, outside.now());
      const draft = draftOf(caller, request, client, outside.now());
      const { rendered } = await acceptMessage(outside, caller, draft, loaded.snapshot);
      checkRoomForScheduled(loaded.scheduled);
      const { readBySender } = draft;
      const message = { ...given, rendered: rendered.html, readBySender, client, baseUrl };
      const due = await commit(1, (numbers) => doSchedule(realm, userId, message, numbers));
      await wakeForDue(outside, clients.queues, due);
      return { scheduled_message_id: due.id };
    },
  },
  { queues: sqsQueues },
);
