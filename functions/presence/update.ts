import {
  legacyPresences,
  neverActive,
  shownPresences,
  slimPresences,
} from '../../shared/domain/presence/object.ts';
import {
  isLately,
  loadPresence,
  loadPresences,
  notePing,
  seconds,
  updateId,
} from '../../shared/domain/presence/presence.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { updatePresence } from '../../shared/endpoints/presence.ts';
import { dropHiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { loadUsersById } from '../../shared/model/user/principals.ts';
import { settingsOf } from '../../shared/model/user/user.ts';
import { serve } from '../../shared/serve/serve.ts';

/** Since when the client wants to be told; undefined for everything. */
const sinceOf = ({ last_update_id: last = -1 }: InputOf<typeof updatePresence>): number | undefined =>
  last === -1 ? undefined : last;

export const handler = serve(updatePresence, {
  load: async ({ input, outside: { table, now: clock }, realm, userId }) => {
    const now = seconds(clock());
    const [settings, own, others] = await Promise.all([
      table.get('settings', { realm, userId }),
      loadPresence(table, realm, userId, now),
      input.ping_only ? [] : loadPresences(table, realm, sinceOf(input), now),
    ]);
    return { now, settings: settingsOf(settings), own, others };
  },
  run: async ({ input, caller, outside, realm, userId }, { now, settings, own, ...loaded }) => {
    const { status, ping_only = false } = input;
    const slim = input.last_update_id !== undefined || (input.slim_presence ?? false);
    const isOff = caller.realm.settings.presence_disabled;
    const others = loaded.others.filter((presence) => presence.userId !== userId);
    const lately = isLately(sinceOf(input), now);
    const accounts = lately ? neverActive(others) : others.map((presence) => presence.userId);
    const [mine, known, users] = await Promise.all([
      isOff || !settings.presence_enabled
        ? own.last
        : notePing(outside.table, realm, userId, own, status, now),
      dropHiddenUsers(outside, caller, others),
      ping_only ? [] : loadUsersById(outside.table, realm, accounts),
    ]);
    if (ping_only) return {};
    const people = [...users, caller.user];
    const all = [...known, ...(mine ? [mine] : [])];
    const shown = shownPresences(isOff ? [] : all, people, {
      days: input.history_limit_days,
      now,
      isLately: lately,
    });
    return {
      presences: slim || lately ? slimPresences(shown) : legacyPresences(shown, people, now),
      presence_last_update_id: updateId(now),
      server_timestamp: outside.now() / 1000,
    };
  },
});
