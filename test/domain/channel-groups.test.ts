import { describe, expect, it } from 'vitest';
import { Refusal } from '../../shared/kernel/errors.ts';
import {
  type ChannelGroupName,
  channelGroupNames,
  channelGroupRules,
} from '../../shared/model/channel/channel.ts';
import {
  checkGroupSetting,
  checkNewSettings,
  type SettingReferences,
} from '../../shared/model/group/setting.ts';
import { type GroupSetting, systemGroups } from '../../shared/model/permission/permission.ts';

const { nobody, everyone, internet, members, owners } = systemGroups;

const named: SettingReferences = {
  groups: new Map([
    [201, { deactivated: false }],
    [202, { deactivated: true }],
  ]),
  users: new Map([
    [101, { isActive: true }],
    [102, { isActive: false }],
  ]),
};

const people = (...direct_members: number[]): GroupSetting => ({ direct_members, direct_subgroups: [] });

const check = (name: ChannelGroupName, value: GroupSetting): GroupSetting =>
  checkGroupSetting(name, channelGroupRules[name], value, named);

/** Settings that guests never hold: the everyone group is refused for them (wire facts 4.5). */
const notForGuests: readonly ChannelGroupName[] = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
];

describe.each(channelGroupNames)('%s', (name) => {
  it('accepts nobody, role groups, named groups and users', () => {
    for (const value of [nobody.id, owners.id, members.id, 201, people(101)])
      expect(check(name, value)).toEqual(value);
  });

  it('accepts everyone only if guests may have the permission', () => {
    if (notForGuests.includes(name)) expect(() => check(name, everyone.id)).toThrow(/role:everyone/);
    else expect(check(name, everyone.id)).toBe(everyone.id);
  });

  it('never accepts everyone on the internet, in any form', () => {
    expect(() => check(name, internet.id)).toThrow(/role:internet/);
    expect(() => check(name, { direct_members: [], direct_subgroups: [internet.id] })).toThrow(Refusal);
    expect(() => check(name, { direct_members: [101], direct_subgroups: [internet.id] })).toThrow(Refusal);
  });

  it('refuses unknown or deactivated groups and users', () => {
    for (const value of [
      200,
      202,
      people(100),
      people(101, 102),
      { direct_members: [101], direct_subgroups: [201, 202] },
      { direct_members: [101], direct_subgroups: [9] },
    ]) {
      expect(() => check(name, value), JSON.stringify(value)).toThrow(Refusal);
    }
  });

  it('brings values into their normal form', () => {
    expect(check(name, { direct_members: [], direct_subgroups: [] })).toBe(nobody.id);
    expect(check(name, { direct_members: [], direct_subgroups: [201, 201] })).toBe(201);
    expect(check(name, people(101, 101))).toEqual(people(101));
  });
});

describe('the group settings of a new channel', () => {
  it('are those of the request, with defaults that depend on the creator', () => {
    const groups = checkNewSettings(channelGroupRules, 101, { can_send_message_group: 201 }, named);
    expect(groups).toMatchObject({
      can_send_message_group: 201,
      can_administer_channel_group: people(101),
      can_remove_subscribers_group: systemGroups.administrators.id,
      can_create_topic_group: everyone.id,
      can_subscribe_group: nobody.id,
    });
    expect(Object.keys(groups).sort()).toEqual([...channelGroupNames].sort());
  });
});

describe('a setting for system groups only', () => {
  it('accepts nothing else', () => {
    const rule = { initial: owners.id, nobody: false, everyone: true, systemOnly: true } as const;
    const check = (value: GroupSetting) => checkGroupSetting('can_x', rule, value, named);
    expect(check(owners.id)).toBe(owners.id);
    expect(check({ direct_members: [], direct_subgroups: [members.id] })).toBe(members.id);
    for (const value of [201, people(101)]) {
      expect(() => check(value)).toThrow(
        expect.objectContaining({
          code: 'SYSTEM_GROUP_REQUIRED',
          status: 400,
          fields: { setting_name: 'can_x' },
        }),
      );
    }
    expect(() => check(nobody.id)).toThrow(/role:nobody/);
    expect(() => check(200)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });
});
