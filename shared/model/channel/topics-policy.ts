import { badRequest, refusal } from '../../kernel/errors.ts';
import { holds, type Standing } from '../permission/permission.ts';
import type { RealmSettings, TopicsPolicy } from '../realm/realm.ts';

const names: ReadonlySet<string> = new Set<TopicsPolicy>([
  'inherit',
  'allow_empty_topic',
  'disable_empty_topic',
  'empty_topic_only',
]);

const isName = (word: string): word is TopicsPolicy => names.has(word);

/** A topics policy by its name (specification 3), raw or as JSON text, since clients of both habits are about. */
export function checkTopicsPolicyName(given: string): TopicsPolicy {
  const word = given.replace(/^"(.*)"$/, '$1');
  if (!isName(word)) throw badRequest(`'topics_policy' must be one of ${[...names].join(', ')}.`);
  return word;
}

/** Decides whether someone may choose the topics policy of channels (wire facts 4.4). */
export function checkSettingTopicsPolicy(who: Standing, settings: RealmSettings): void {
  if (!holds(who, settings.can_set_topics_policy_group)) throw refusal('insufficientPermission');
}
