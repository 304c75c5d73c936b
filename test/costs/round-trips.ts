/**
 * How many sequential round trips to DynamoDB each operation takes: in a container that has served nobody yet, and
 * again in the same one. Requests that overlap count once. The operations are those of `test/bench/operations`, at least
 * one for each endpoint; `round-trips.test.ts` counts them and holds them to the budgets of DESIGN 7.
 */
export const roundTrips: Readonly<Record<string, readonly [cold: number, warm: number]>> = {
  'messages.send:channel': [3, 2],
  'messages.send:channel with local_id': [3, 2],
  'messages.send:direct': [3, 2],
  'messages.send:direct to two': [3, 2],
  'messages.send:with a mention': [3, 2],
  'messages.send:wildcard mention': [3, 2],
  'messages.send:new topic': [3, 2],
  'messages.list:newest of a channel': [3, 2],
  'messages.list:newest of a topic': [3, 2],
  'messages.list:direct messages': [4, 2],
  'messages.list:links of a channel': [3, 2],
  'messages.list:search': [3, 2],
  'messages.matchesNarrow': [3, 2],
  'messages.render': [2, 1],
  'messages.list:newest of all': [3, 2],
  'messages.list:first unread': [3, 2],
  'messages.get': [2, 2],
  'messages.updateFlags:read 1': [3, 2],
  'messages.updateFlags:read 20': [3, 2],
  'messages.updateFlagsForNarrow': [3, 2],
  'messages.markAllAsRead': [3, 2],
  'messages.markChannelAsRead': [3, 2],
  'messages.markTopicAsRead': [3, 2],
  'messages.updateFlags:star': [3, 2],
  'messages.update:content': [3, 3],
  'messages.update:topic': [3, 3],
  'messages.delete': [3, 3],
  'messages.getHistory': [2, 2],

  'reactions.add': [3, 3],
  'reactions.remove': [3, 3],
  'submessages.add': [3, 3],

  'messages.getReadReceipts': [3, 3],
  'messages.report': [3, 3],
  'typing.send:direct': [3, 2],
  'typing.send:channel': [3, 2],
  'typing.sendEdit': [3, 3],

  'topics.list': [2, 1],
  'topics.setVisibility': [3, 2],
  'topics.mute': [3, 2],
  'topics.delete': [8, 7],

  'events.register:everything': [3, 2],
  'events.register:messages only': [3, 2],
  'events.get:a message is there': [3, 2],
  'events.get:a message is there for others': [3, 2],
  'events.get:nothing is there': [2, 1],
  'events.delete': [3, 2],

  'users.list': [2, 1],
  'users.list:two of them': [2, 1],
  'users.getOwn': [2, 1],
  'users.get': [2, 1],
  'users.create': [3, 3],
  'users.update': [3, 3],
  'users.deactivate': [3, 3],
  'users.deactivateOwn': [4, 3],
  'users.reactivate': [3, 3],
  'users.regenerateKey': [3, 3],
  'invites.create': [3, 3],
  'invites.createLink': [3, 2],
  'invites.list': [2, 1],
  'invites.resend': [3, 2],
  'invites.revoke': [3, 2],
  'invites.revokeLink': [3, 2],
  'apiKeys.list': [2, 1],
  'apiKeys.revoke': [3, 3],
  'users.updateProfileData': [3, 2],
  'users.removeProfileData': [3, 2],

  'scheduledMessages.list': [2, 1],
  'scheduledMessages.create': [3, 2],
  'scheduledMessages.update': [4, 3],
  'scheduledMessages.delete': [3, 2],

  'reminders.list': [2, 1],
  'reminders.create': [3, 3],
  'reminders.delete': [3, 2],

  'drafts.list': [2, 1],
  'drafts.create': [3, 2],
  'drafts.replace': [3, 2],
  'drafts.delete': [3, 2],

  'navigationViews.list': [2, 1],
  'navigationViews.add': [3, 2],
  'navigationViews.update': [3, 2],
  'navigationViews.remove': [3, 2],
  'savedSnippets.list': [2, 1],
  'savedSnippets.create': [3, 2],
  'savedSnippets.update': [3, 2],
  'savedSnippets.delete': [3, 2],

  'settings.update': [3, 2],

  'users.listAlertWords': [2, 1],
  'users.addAlertWords': [3, 2],
  'users.removeAlertWords': [3, 2],
  'users.mute': [3, 2],
  'users.unmute': [3, 2],
  'users.setStatus': [3, 2],
  'users.setStatusOf': [3, 2],
  'users.getStatus': [2, 1],
  'users.isSubscribed': [2, 1],
  'users.listChannels': [3, 2],

  'presence.update': [3, 2],
  'presence.update:once in five minutes': [3, 2],
  'presence.update:coming online': [4, 3],
  'presence.update:again within a minute': [2, 1],
  'presence.list': [2, 1],
  'presence.get': [2, 1],

  'bots.list': [3, 2],
  'bots.create': [3, 3],
  'bots.deactivate': [3, 3],
  'bots.regenerateKey': [3, 3],
  'bots.getStorage': [2, 1],
  'bots.updateStorage': [3, 2],
  'bots.removeStorage': [3, 2],

  'subscriptions.list': [3, 2],
  'subscriptions.list:with subscribers': [3, 2],
  'channels.create': [3, 3],
  'subscriptions.add:a new channel': [3, 3],
  'subscriptions.add:oneself': [3, 3],
  'subscriptions.add:two others': [3, 3],
  'subscriptions.remove': [3, 3],
  'subscriptions.change': [4, 4],
  'subscriptions.setProperties': [3, 2],
  'subscriptions.setProperty': [3, 2],

  'channels.list': [2, 1],
  'channels.getId': [2, 1],
  'channels.get': [2, 1],
  'channels.listMembers': [2, 1],
  'channels.update': [3, 2],
  'channels.archive': [3, 2],
  'channels.addDefault': [3, 2],
  'channels.removeDefault': [3, 2],
  'defaultChannelGroups.create': [3, 2],
  'defaultChannelGroups.update': [3, 2],
  'defaultChannelGroups.updateChannels': [3, 2],
  'defaultChannelGroups.delete': [3, 2],
  'channels.getEmailAddress': [2, 1],

  'channelFolders.create': [3, 2],
  'channelFolders.list': [2, 1],
  'channelFolders.reorder': [3, 2],
  'channelFolders.update': [3, 2],

  'userGroups.list': [2, 1],
  'userGroups.create': [3, 2],
  'userGroups.update': [3, 2],
  'userGroups.deactivate': [3, 2],
  'userGroups.updateMembers': [3, 2],
  'userGroups.updateSubgroups': [3, 2],
  'userGroups.listMembers': [3, 2],
  'userGroups.isMember': [2, 1],
  'userGroups.listSubgroups': [2, 1],

  'realm.update': [3, 2],
  'realm.updateNewUserSettings': [3, 2],
  'realm.testWelcome': [4, 3],

  'profileFields.create': [3, 2],
  'profileFields.list': [2, 1],
  'profileFields.reorder': [3, 2],
  'profileFields.update': [3, 2],
  'profileFields.delete': [3, 2],

  'linkifiers.list': [2, 1],
  'linkifiers.create': [3, 2],
  'linkifiers.update': [3, 2],
  'linkifiers.delete': [3, 2],
  'linkifiers.reorder': [3, 2],
  'playgrounds.create': [3, 2],
  'playgrounds.delete': [3, 2],

  'domains.list': [2, 1],
  'domains.add': [3, 2],
  'domains.update': [3, 2],
  'domains.remove': [3, 2],

  'realm.deactivate': [3, 2],
  'users.setAvatar': [3, 2],
  'users.removeAvatar': [3, 2],
  'realm.setIcon': [3, 2],
  'realm.removeIcon': [3, 2],
  'realm.getIcon': [2, 1],
  'realm.setLogo': [3, 2],
  'realm.removeLogo': [3, 2],
  'realm.getLogo': [2, 1],

  'emoji.list': [2, 1],
  'emoji.add': [3, 3],
  'emoji.deactivate': [3, 3],
  'emoji.image': [0, 0],

  'files.upload': [4, 3],
  'files.list': [3, 2],
  'files.remove': [3, 2],
  'files.createTemporaryLink': [3, 2],
  'files.getThumbnailStatus': [2, 1],
  'files.getTemporary': [3, 3],

  'exports.create': [3, 2],
  'exports.list': [2, 1],
  'exports.listConsents': [3, 2],
  'exports.delete': [3, 2],

  'server.getSettings': [2, 1],
  'signIn.fetchApiKey': [3, 3],
  'signIn.devFetchApiKey': [3, 3],
  'signIn.devListUsers': [2, 2],
  'server.getOpenApi': [0, 0],
  'server.getEmojiNames': [0, 0],

  'push.registerDevice': [3, 2],
  'push.removeDevice': [3, 2],
  'push.register': [3, 2],
  'push.sendLegacyTest': [2, 1],
  'push.addApnsToken': [3, 2],
  'push.removeApnsToken': [3, 2],
  'push.addFcmToken': [3, 2],
  'push.removeFcmToken': [3, 2],

  'calls.register': [3, 2],
  'calls.complete': [3, 3],
  'calls.create': [3, 2],
  'calls.createBigBlueButton': [2, 1],
};

/** Operations whose round trips depend on how long they wait, so that they are not counted here. */
export const waiting: Readonly<Record<string, string>> = {
  'events.get:held to the end':
    'A poll that is held looks for news every 150 ms (the other operations of `events.get` are polls that are not held).',
  'push.sendTest':
    'It looks for the answer of the worker until there is one (test/push/sendTest.test.ts counts what comes before).',
};

/** Operations that take more round trips than DESIGN 7 allows, and why. */
export const exceptions: Readonly<Record<string, string>> = {
  'messages.list:direct messages':
    'Cold, it takes 4: a caller who has not fetched before has their conversations read first, and remembered.',
  'messages.getReadReceipts':
    'It takes 3: the message, then the subscribers of its channel, then what each of them has read.',
  'topics.delete':
    'It takes 7: the messages are found, read, and removed by a transaction with numbers of its own; the policies for the topic follow in another one.',
  'users.deactivateOwn':
    'Cold, it takes 4: only the address of the account is known, and the account is read before its bots and subscriptions.',
  'presence.update:coming online':
    'Cold, it takes 4: of all pings, few have an event, so no number of the log is reserved for one.',
  'scheduledMessages.update':
    'Cold, it takes 4: where the message goes and whom it mentions is only known once it is read.',
  'subscriptions.change':
    'It takes 4: channels are joined first, and left after that, by a transaction each.',
  'realm.testWelcome':
    'Cold, it takes 4: the conversation with the notification bot is only known once the organization is read.',
  'files.upload':
    'It notes the file in a list, at the same time as it stores its bytes, which takes longer, so that cleanup finds those of a request that dies. Cold, that makes 4.',
  'files.getTemporary': 'It takes 3: the organization, then the address, then the file.',
};
