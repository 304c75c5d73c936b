import type { Channel } from '../../model/channel/channel.ts';
import { type GroupSetting, sameSetting } from '../../model/permission/group-setting.ts';
import { systemGroups } from '../../model/permission/system-group.ts';
import type { TopicsPolicy } from '../../model/realm/realm.ts';
import type { User } from '../../model/user/user.ts';
import { silently, verbatim } from '../send/channel-notice.ts';
import type { DecidedEdit } from './edit.ts';
import { changesPrivacy } from './events.ts';

/**
 * What a channel is told of an edit, as Markdown, one text for each thing (wire facts 4.7). Folders, default
 * channels and settings other than who may post are not told of.
 */
export function noticesOfChannelEdit(edit: DecidedEdit, actor: Pick<User, 'userId' | 'fullName'>): string[] {
  const { before, after } = edit;
  const who = silently(actor);
  const texts: string[] = [];
  if (changesPrivacy(edit)) {
    texts.push(`${who} made this channel **${privacyWords(after)}**. It was **${privacyWords(before)}**.`);
  }
  if (after.messageRetentionDays !== before.messageRetentionDays) {
    texts.push(
      `${who} changed how long messages are kept here: **${retentionWords(after)}**. It was **${retentionWords(before)}**.`,
    );
  }
  if (before.isArchived && !after.isArchived) texts.push(`${who} took this channel out of the archive.`);
  if (!before.isArchived && after.isArchived) texts.push(`${who} archived this channel.`);
  if (after.topicsPolicy !== before.topicsPolicy) {
    texts.push(
      `${who} changed the topics of this channel: **${topicWords[after.topicsPolicy]}**. It was **${topicWords[before.topicsPolicy]}**.`,
    );
  }
  if (after.description !== before.description) {
    texts.push(
      [`${who} changed the description of this channel.`, 'Old:', quoted(before), 'New:', quoted(after)].join(
        '\n\n',
      ),
    );
  }
  if (after.name !== before.name) {
    texts.push(`${who} renamed this channel from ${verbatim(before.name)} to ${verbatim(after.name)}.`);
  }
  const [posted, posts] = [before.groups.can_send_message_group, after.groups.can_send_message_group];
  if (!sameSetting(posted, posts)) {
    texts.push(`${who} changed who may post here: ${settingWords(posts)}. It was ${settingWords(posted)}.`);
  }
  return texts;
}

function privacyWords({ isPrivate, isWebPublic, historyPublicToSubscribers }: Channel): string {
  if (isWebPublic) return 'web-public';
  if (!isPrivate) return 'public';
  return historyPublicToSubscribers ? 'private, with shared history' : 'private, with protected history';
}

function retentionWords({ messageRetentionDays: days }: Channel): string {
  if (days === undefined) return 'as long as the organization says';
  return days < 0 ? 'for ever' : `${days} ${days === 1 ? 'day' : 'days'}`;
}

const topicWords: Readonly<Record<TopicsPolicy, string>> = {
  inherit: 'as the organization says',
  allow_empty_topic: 'with or without a name',
  disable_empty_topic: 'only with a name',
  empty_topic_only: 'none with a name',
};

/** A description as a quote, which nobody is notified by. It is one line. */
const quoted = ({ description }: Channel): string => (description === '' ? '*none*' : `> ${description}`);

function settingWords(setting: GroupSetting): string {
  const system = Object.values(systemGroups).find(({ id }) => id === setting);
  return system ? verbatim(system.name) : 'people and groups chosen for this channel';
}
