import { sqsQueues } from '../../shared/adapters/queues.ts';
import {
  checkMarking,
  commitMarking,
  loadMarking,
  planMarking,
} from '../../shared/domain/flags/message-marking.ts';
import { Reader } from '../../shared/domain/reader/reader.ts';
import { updateFlags } from '../../shared/endpoints/flags.ts';
import { wakePush } from '../../shared/kernel/wake-up.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  updateFlags,
  {
    load: async ({ input: { op, flag, messages }, outside, realm, userId }) => {
      const reader = new Reader(outside, realm, userId);
      const marking = { op, flag, ids: [...new Set(messages)] };
      return { reader, marking, snapshot: await loadMarking(reader, marking) };
    },
    reserve: 1,
    run: async ({ input, outside, caller, commit, clients }, { reader, marking, snapshot }) => {
      const { standing } = caller;
      const marked = await checkMarking(reader, standing, marking, snapshot);
      const changes = await planMarking(reader, standing, marking, marked, snapshot, outside.now());
      for (const change of changes) await commitMarking(outside, reader, commit, change);
      // What was read need not be shown on telephones any more.
      if (marking.flag === 'read' && marking.op === 'add') await wakePush({ outside, caller, clients });
      // All that were asked for, whether they changed, and whether there are such messages for the caller (facts 1.11).
      const { messages } = input;
      return { messages, ignored_because_not_subscribed_channels: [...marked.ignoredChannels] };
    },
  },
  { queues: sqsQueues },
);
