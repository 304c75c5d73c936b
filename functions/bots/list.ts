import { botDefaults, loadBotChannels, loadOwnedBots } from '../../shared/domain/account/bot.ts';
import { listBots } from '../../shared/endpoints/bots.ts';
import { avatarUrlOf } from '../../shared/model/user/object.ts';
import { loadUsersById } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listBots, {
  load: async ({ outside, realm, userId }) => {
    const { table } = outside;
    const owned = await loadOwnedBots(table, realm, userId);
    const [users, channels] = await Promise.all([
      loadUsersById(
        outside,
        realm,
        owned.map((bot) => bot.userId),
      ),
      loadBotChannels(table, realm, userId, owned),
    ]);
    return { owned: new Map(owned.map((bot) => [bot.userId, bot])), users, channels };
  },
  run: ({ caller }, { owned, users, channels }) => ({
    bots: users
      .filter(({ isActive }) => isActive)
      .map((user) => ({
        user_id: user.userId,
        username: user.email,
        full_name: user.fullName,
        avatar_url: avatarUrlOf(user),
        ...botDefaults(caller.standing, owned.get(user.userId) ?? {}, channels),
      })),
  }),
});
