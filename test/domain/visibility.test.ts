import { describe, expect, it } from 'vitest';
import { automaticPolicy, visibility } from '../../shared/model/message/user-topic.ts';
import { defaultUserSettings } from '../../shared/model/user/user.ts';

const { inherit, muted, unmuted, followed } = visibility;

/** The sender's policy before, whether they muted the channel, and whether they could read an earlier message. */
const situations = [
  { current: inherit, channelMuted: false, startsTopic: true },
  { current: inherit, channelMuted: false, startsTopic: false },
  { current: inherit, channelMuted: true, startsTopic: true },
  { current: inherit, channelMuted: true, startsTopic: false },
  { current: muted, channelMuted: false },
  { current: muted, channelMuted: true },
  { current: unmuted, channelMuted: false },
  { current: unmuted, channelMuted: true },
  { current: followed, channelMuted: false },
  { current: followed, channelMuted: true },
] as const;

/**
 * For each pair of settings (1 on participation, 2 on send, 3 on initiation, 4 never) what becomes of each situation
 * above, in the same order: `F` followed, `U` unmuted, `-` no change.
 */
const table: readonly (readonly [follow: readonly number[], unmute: readonly number[], results: string])[] = [
  [[1, 2], [1, 2, 3, 4], 'FFFF FF FF --'],
  [[3], [1, 2], 'F-FU -U -- --'],
  [[3], [3, 4], 'F-F- -- -- --'],
  [[4], [1, 2], '--UU -U -- --'],
  [[4], [3], '--U- -- -- --'],
  [[4], [4], '---- -- -- --'],
];

const results = new Map([
  ['F', followed],
  ['U', unmuted],
]);

describe('wire facts 3.10: the policy that a topic gets for its sender', () => {
  const pairs = table.flatMap(([follows, unmutes, row]) =>
    follows.flatMap((follow) => unmutes.map((unmute) => [follow, unmute, row] as const)),
  );

  it('the table covers all settings', () => {
    expect(new Set(pairs.map(([follow, unmute]) => `${follow}${unmute}`)).size).toBe(16);
  });

  it.each(pairs)('follow %d, unmute %d: %s', (follow, unmute, row) => {
    const settings = {
      ...defaultUserSettings,
      automatically_follow_topics_policy: follow,
      automatically_unmute_topics_in_muted_streams_policy: unmute,
    };
    const expected = [...row.replaceAll(' ', '')].map((letter) => results.get(letter));
    for (const [i, situation] of situations.entries()) {
      // A user who already has a policy for the topic does not start it, whatever they can read.
      const starts = 'startsTopic' in situation ? [situation.startsTopic] : [true, false];
      for (const startsTopic of starts) {
        const policy = automaticPolicy({ settings, ...situation, startsTopic });
        expect(policy, JSON.stringify({ ...situation, startsTopic })).toBe(expected[i]);
      }
    }
  });

  it('a new account follows topics that it starts, and unmutes topics in which it participates', () => {
    expect(defaultUserSettings.automatically_follow_topics_policy).toBe(3);
    expect(defaultUserSettings.automatically_unmute_topics_in_muted_streams_policy).toBe(2);
    expect(defaultUserSettings.automatically_follow_topics_where_mentioned).toBe(true);
  });
});
