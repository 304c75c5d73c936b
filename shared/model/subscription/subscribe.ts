import { badRequest } from '../../kernel/errors.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Subscription, SubscriptionSettings } from '../channel/channel.ts';

/** The colours that new subscriptions take in turn. */
const COLORS = ['#76ce90', '#fae589', '#a6c7e5', '#e79ab5', '#bfd56f', '#f4ae55', '#b0a5fd', '#addfe5'];

/** What is set for someone who subscribes to a channel for the first time. */
export const newSubscriptionSettings = (channelId: number): SubscriptionSettings => ({
  color: COLORS[channelId % COLORS.length] ?? '#c2c2c2',
  isMuted: false,
  pinToTop: false,
});

/** What somebody chose for a channel, out of the stored item. */
export const settingsOf = (stored: SubscriptionSettings): SubscriptionSettings => ({
  color: stored.color,
  isMuted: stored.isMuted,
  pinToTop: stored.pinToTop,
  ...(stored.desktopNotifications !== undefined && { desktopNotifications: stored.desktopNotifications }),
  ...(stored.audibleNotifications !== undefined && { audibleNotifications: stored.audibleNotifications }),
  ...(stored.pushNotifications !== undefined && { pushNotifications: stored.pushNotifications }),
  ...(stored.emailNotifications !== undefined && { emailNotifications: stored.emailNotifications }),
  ...(stored.wildcardMentionsNotify !== undefined && {
    wildcardMentionsNotify: stored.wildcardMentionsNotify,
  }),
});

/** The subscription and its inverse, guarded so that two requests at once make one. The count is another write. */
export const subscriptionWrites = (realm: string, subscription: Subscription): Write[] => {
  const { userId, channelId } = subscription;
  return [
    {
      put: key('subscription', { realm, userId, channelId }),
      item: { ...subscription },
      when: { absent: true },
    },
    { put: key('subscriber', { realm, channelId, userId }), item: { userId } },
  ];
};

/** Lets the channel have so many subscribers more (or fewer): one write, however many they are. */
export const countSubscribers = (realm: string, channelId: number, more: number): Write => ({
  update: key('channelCount', { realm, channelId }),
  change: { add: { subscribers: more } },
});

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Decides whether text is a color as clients write one. */
export function checkColor(color: string): string {
  if (!COLOR.test(color)) throw badRequest('A color is written as # and three or six hexadecimal digits.');
  return color;
}
