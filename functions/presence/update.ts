import { doArrive, isArrival, loadPing } from '../../shared/domain/presence/arrival.ts';
import {
  legacyPresences,
  neverActiveIds,
  shownPresences,
  slimPresences,
} from '../../shared/domain/presence/object.ts';
import { isRecent, recordPing, seconds, updateId } from '../../shared/domain/presence/presence.ts';
import { updatePresence } from '../../shared/endpoints/presence.ts';
import { dropHiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { loadUsersById } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updatePresence, {
  parse: ({ last_update_id: last, slim_presence = false, ...input }) => ({
    ...input,
    isSlim: last !== undefined || slim_presence,
    /** Only later updates are returned; undefined for all. */
    since: last === -1 ? undefined : last,
  }),
  load: ({ input, outside: { table, now }, realm, userId }) =>
    loadPing(table, realm, userId, input, seconds(now())),
  run: async ({ input, caller, outside, realm, userId, commit }, { now, settings, own, ...loaded }) => {
    const { status, ping_only: pingOnly, isSlim, since, history_limit_days: days } = input;
    const isOff = caller.realm.settings.presence_disabled;
    const others = loaded.others.filter((presence) => presence.userId !== userId);
    const record = () =>
      isArrival(own, status, others, now)
        ? commit(1, () => doArrive(realm, caller.user, now))
        : recordPing(outside.table, realm, userId, own, status, now);
    const recording = isOff || !settings.presence_enabled ? own.last : record();
    if (pingOnly) {
      await recording;
      return {};
    }
    const lately = isRecent(since, now);
    const accounts = lately ? neverActiveIds(others) : others.map((presence) => presence.userId);
    const [mine, visible, users] = await Promise.all([
      recording,
      dropHiddenUsers(outside, caller, others),
      loadUsersById(outside, realm, accounts),
    ]);
    const people = [...users, caller.user];
    const all = isOff ? [] : [...visible, ...(mine ? [mine] : [])];
    const shown = shownPresences(all, people, { days, now, isRecent: lately });
    return {
      presences: isSlim || lately ? slimPresences(shown) : legacyPresences(shown, people, now),
      presence_last_update_id: updateId(now),
      server_timestamp: outside.now() / 1000,
    };
  },
});
