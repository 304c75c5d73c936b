import { isId } from '../../shared/domain/channel/channel-access.ts';
import { commitInOrder } from '../../shared/domain/in-order.ts';
import { badRequest } from '../../shared/domain/problems.ts';
import { accessBot } from '../../shared/domain/user/bot.ts';
import { doDeactivate, loadDeparture } from '../../shared/domain/user/deactivate.ts';
import { deactivateBot } from '../../shared/endpoints/bots.ts';
import { serve } from '../../shared/serve/serve.ts';

/** A bot in a few channels. */
const EVENTS = 4;

export const handler = serve(deactivateBot, {
  load: ({ input: { bot_id: botId }, outside, realm }) =>
    loadDeparture(outside.table, realm, isId(botId) ? botId : undefined),
  ahead: EVENTS,
  run: async ({ caller, commit, realm }, departure) => {
    const bot = accessBot(caller, departure.target);
    const steps = doDeactivate(realm, bot, departure);
    if (steps.length === 0) throw badRequest('The bot is deactivated already.');
    await commitInOrder(commit, steps);
    return {};
  },
});
