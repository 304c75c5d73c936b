import { lookUpIn } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Caller } from '../../model/user/caller.ts';
import { draftOf, sendLookupKeys } from '../send/request.ts';
import { acceptMessage, loadSend } from '../send/target.ts';
import { asSendRequest, type ScheduledMessage } from './scheduled-message.ts';

/**
 * Passes a scheduled message through all checks of sending it now. Two round trips; one if it names nobody.
 *
 * @throws Refusal those of a send (specification 4.1)
 */
export async function acceptScheduled(
  outside: Outside,
  caller: Caller,
  message: Pick<ScheduledMessage, 'place' | 'content' | 'readBySender' | 'client' | 'baseUrl'>,
) {
  const { userId, ownerId } = caller.user;
  const request = asSendRequest(message, message.readBySender);
  const resolved = await lookUpIn(outside.table, caller.realmId, sendLookupKeys(request));
  const sender = { userId, baseUrl: message.baseUrl, ...(ownerId !== undefined && { ownerId }) };
  const snapshot = await loadSend(outside, sender, request, resolved);
  const draft = draftOf(caller, request, message.client, outside.now());
  return { draft, delivery: await acceptMessage(outside, caller, draft, snapshot) };
}
