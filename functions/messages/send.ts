import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sendOwnerNotice } from '../../shared/domain/send/direct-notice.ts';
import {
  draftOf,
  maxNumbers,
  parseSend,
  type SendRequest,
  sendLookupKeys,
} from '../../shared/domain/send/request.ts';
import { accessSent, doSend, type SendReply, sendReply } from '../../shared/domain/send/send.ts';
import {
  acceptMessage,
  isMissingChannel,
  loadSend,
  type SendSnapshot,
} from '../../shared/domain/send/target.ts';
import { sendMessage } from '../../shared/endpoints/messages.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import { wakePush, wakeSearchAt } from '../../shared/kernel/wake-up.ts';
import type { Request } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type SendCall = Request<SendRequest> & { readonly clients: { readonly queues: Queues } };

async function send(request: SendCall, snapshot: SendSnapshot): Promise<SendReply> {
  const { input, realm, caller, client, outside, log, commit, clients } = request;
  const earlier = accessSent(snapshot.sent, input.token);
  if (earlier) return sendReply(earlier.messageId, earlier.policy);
  const { target } = snapshot;
  const draft = draftOf(caller, input, client, outside.now());
  const delivery = await acceptMessage(outside, caller, draft, snapshot).catch(async (refused) => {
    if (isMissingChannel(target, refused))
      await sendOwnerNotice(outside, log, caller, target.label, 'does not exist');
    throw refused;
  });
  let waking: Promise<void> | undefined;
  const reply = await commit(delivery.before.length + 1, (numbers) => {
    waking = wakeSearchAt(outside, clients.queues, realm, numbers);
    return doSend(realm, draft, delivery, numbers);
  });
  await waking;
  if (target.kind === 'channel' && target.destination?.count?.subscribers === 0)
    await sendOwnerNotice(outside, log, caller, target.destination.channel.name, 'has no subscribers');
  await wakePush(request);
  return reply;
}

export const handler = serve(
  sendMessage,
  {
    parse: parseSend,
    keys: sendLookupKeys,
    load: (request) => loadSend(request.outside, request, request.input, request.resolved),
    reserve: maxNumbers,
    messages: 1,
    run: send,
  },
  { queues: sqsQueues },
);
