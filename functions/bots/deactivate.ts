import { doDeactivate, loadDeactivation } from '../../shared/domain/account/activation.ts';
import { accessBot } from '../../shared/domain/account/bot.ts';
import { deactivateBot } from '../../shared/endpoints/bots.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { loadTarget, targetLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

/** A bot in a few channels and groups. */
const EVENTS = 6;

export const handler = serve(deactivateBot, {
  keys: ({ bot_id: id }) => targetLookupKeys(String(id)),
  load: async ({ input: { bot_id: id }, resolved, outside, realm }) =>
    loadDeactivation(outside, realm, await loadTarget(outside.table, String(id), resolved)),
  reserve: EVENTS,
  run: async ({ caller, commit, outside }, snapshot) => {
    const bot = accessBot(caller, snapshot.target, snapshot.owner);
    const steps = doDeactivate(caller, bot, snapshot, outside.now());
    if (steps.length === 0) throw badRequest('The bot is deactivated already.');
    await commitInOrder(commit, steps);
    return {};
  },
});
