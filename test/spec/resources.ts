import type { Section } from './section.ts';

/** Sections 2 and 3 of the specification: the fields of resources, and how they change. */
export const resources: readonly Section[] = [
  {
    section: '2.1',
    rules: {
      result: 'is `success` or `error`',
      msg: 'is empty in a success and a readable message in an error',
      code: 'is in every error, for programs',
      ignored_parameters_unsupported: 'lists unsupported parameters, if any, and only in a success',
      'own-fields': ['errors may have additional fields, such as `stream`', '4.1/unknown-channel'],
    },
  },
  {
    section: '2.2',
    rules: {
      integer: 'a number is the id of the group with the permission',
      object: 'an object lists users and groups directly',
      new: 'an update of a setting must have the new value',
      old: 'an update may have the expected old value, which is compared',
      'system-groups': 'role groups have names such as `role:everyone`',
    },
  },
  {
    section: '2.3',
    rules: {
      id: 'each message gets a unique id when it is sent',
      type: ['direct, channel, stream or private', '4.1/direct', '4.1/channel', '4.1/stream', '4.1/private'],
      to: ['the channel or the recipients', '4.1/to-name', '4.1/to-id', '4.1/to-ids', '4.1/to-emails'],
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
      channel_folder_id: ['the id of a folder', '4.3/channel_folder_id'],
      name: ['is never empty', '4.3/name'],
      description: ['is text, which may be empty', '4.3/description'],
    },
  },
  {
    section: '2.6',
    rules: {
      id: ['the id of a profile field, returned when it is created', '4.4/id'],
      fields: 'a field is returned with all its properties',
      types: 'there are eight, numbered from 1',
    },
  },
  {
    section: '2.7',
    rules: {
      group_id: ['the id of a group, returned when it is created', '4.5/group_id'],
      fields: 'name, description, members and subgroups',
      permissions: 'six settings are permissions for the group',
    },
  },
  {
    section: '2.8',
    rules: {
      id: 'text, the same as the key of the record',
      name: 'is the name of the emoji between colons',
      source_url: 'is the URL of the image, relative to the organization',
      still_url: 'is the URL of the first frame of an animation, and null for others',
      deactivated: 'says whether it is deactivated',
      author_id: 'is the user who uploaded it, or null if unknown',
    },
  },
  {
    section: '2.9',
    rules: {
      id: ['the id of an export, returned when it is created', '4.8/id'],
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
        'the author of an emoji and administrators can deactivate it',
        '4.9/own',
        '4.9/administrators',
      ],
      'deactivated-emoji': 'is still shown in old messages, reactions, statuses and descriptions of channels',
      unarchive: ['an archived channel is unarchived by an edit', '4.2/is_archived'],
      'unarchive-only': 'an edit can unarchive a channel, but not archive it',
      topics_policy: ['is set by editing a channel', '4.2/topics_policy'],
      'empty_topic_only-condition':
        'requires that every message of the channel is in the empty topic already',
      inherit: 'allows named topics, and the empty one if the organization does',
      allow_empty_topic: 'allows named topics and the empty one',
      disable_empty_topic: 'allows named topics only',
      empty_topic_only: 'allows the empty topic only',
      'new-channel': 'a channel that is created without a policy has `inherit`',
    },
  },
];
