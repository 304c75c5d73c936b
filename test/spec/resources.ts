import type { Section } from './section.ts';

/** Sections 2 and 3 of the specification: what things are made of, and how they change. */
export const resources: readonly Section[] = [
  {
    section: '2.1',
    rules: {
      result: 'is `success` or `error`',
      msg: 'is empty in a success and a sentence for people in an error',
      code: 'is in every error, for machines',
      ignored_parameters_unsupported:
        'lists, in a success only, what was sent and is not supported, if anything',
      'own-fields': ['errors may carry fields of their own, such as `stream`', '4.1/unknown-channel'],
    },
  },
  {
    section: '2.2',
    rules: {
      integer: 'a number is the group that holds the permission',
      object: 'or people and groups are listed directly',
      new: 'an update of a setting must say the new value',
      old: 'and may say the value that is expected, which is then compared',
      'system-groups': 'the groups of roles have names such as `role:everyone`',
    },
  },
  {
    section: '2.3',
    rules: {
      id: 'each message gets a number of its own when it is sent',
      type: ['direct, channel, stream or private', '4.1/direct', '4.1/channel', '4.1/stream', '4.1/private'],
      to: ['whom it is for', '4.1/to-name', '4.1/to-id', '4.1/to-ids', '4.1/to-emails'],
      topic: ['only channel messages have one', '4.1/topic', '4.1/topic-direct'],
      content: ['the text', '4.1/content', '4.1/content-length'],
    },
  },
  {
    section: '2.4',
    rules: { properties: 'each property and each of the eleven group settings can be changed' },
  },
  {
    section: '2.5',
    rules: {
      channel_folder_id: ['the number of a folder', '4.3/channel_folder_id'],
      name: ['is never empty', '4.3/name'],
      description: ['is text, which may be empty', '4.3/description'],
    },
  },
  {
    section: '2.6',
    rules: {
      id: ['the number of a profile field, told when it is created', '4.4/id'],
      fields: 'a field is told with all that was said of it',
      types: 'there are eight, numbered from 1',
    },
  },
  {
    section: '2.7',
    rules: {
      group_id: ['the number of a group, told when it is created', '4.5/group_id'],
      fields: 'name, description, members and subgroups',
      permissions: 'six settings say who may do what with the group',
    },
  },
  {
    section: '2.8',
    rules: {
      id: 'text, the same as the key of the record',
      name: 'stands for the emoji between colons',
      source_url: 'leads to the image, from the address of the organization',
      still_url: 'leads to the first frame of a moving image, and is null for others',
      deactivated: 'says whether it is deactivated',
      author_id: 'says who uploaded it, or null where nobody knows',
    },
  },
  {
    section: '2.9',
    rules: {
      id: ['the number of an export, told when it is created', '4.8/id'],
      types: [
        'public, full_with_consent and full_without_consent',
        '4.8/public',
        '4.8/full_with_consent',
        '4.8/full_without_consent',
      ],
    },
  },
  {
    section: '3',
    rules: {
      'deactivate-emoji': [
        'who added an emoji, and administrators, deactivate it',
        '4.9/own',
        '4.9/administrators',
      ],
      'deactivated-emoji': 'is still seen in old messages, reactions, statuses and descriptions of channels',
      unarchive: ['an archived channel is taken out of the archive by editing it', '4.2/is_archived'],
      'unarchive-only': 'and editing it does nothing else about the archive',
      topics_policy: ['is set by editing a channel', '4.2/topics_policy'],
      'empty_topic_only-condition': 'wants every message of the channel in the empty topic already',
      inherit: 'takes named topics; the organization says whether it takes the empty one',
      allow_empty_topic: 'takes named topics and the empty one',
      disable_empty_topic: 'takes named topics only',
      empty_topic_only: 'takes the empty topic only',
      'new-channel': 'a channel that is created without a policy has `inherit`',
    },
  },
];
