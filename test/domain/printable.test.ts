import { describe, expect, it } from 'vitest';
import { handler as createFolder } from '../../functions/channelFolders/create.ts';
import { handler as updateChannel } from '../../functions/channels/update.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as createField } from '../../functions/profileFields/create.ts';
import { handler as updateRealm } from '../../functions/realm/update.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as createGroup } from '../../functions/userGroups/create.ts';
import { handler as createUser } from '../../functions/users/create.ts';
import { handler as setStatus } from '../../functions/users/setStatus.ts';
import { handler as updateUser } from '../../functions/users/update.ts';
import { answer } from '../support/accounts.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';

type Naming = (realm: TestRealm, name: string) => Promise<Reply>;

/** Every line of text that people read as a name. */
const namings: Readonly<Record<string, Naming>> = {
  'the name of a user group': ({ call, people }, name) =>
    call(createGroup, people.member, { name, description: '', members: [] }),
  'the name of a profile field': ({ call, people }, name) =>
    call(createField, people.admin, { field_type: 1, name }),
  'the hint of a profile field': ({ call, people }, hint) =>
    call(createField, people.admin, { field_type: 1, name: 'Hint', hint }),
  'the text of a choice': ({ call, people }, text) =>
    call(createField, people.admin, {
      field_type: 3,
      name: 'Choice',
      field_data: { a: { text, order: '1' } },
    }),
  'the name of a channel': ({ call, people }, name) =>
    call(subscribe, people.admin, { subscriptions: [{ name }] }),
  'the new name of a channel': ({ call, people, channels }, new_name) =>
    call(updateChannel, people.admin, { new_name }, { path: { stream_id: channels.general } }),
  'the name of a channel folder': ({ call, people }, name) =>
    call(createFolder, people.admin, { name, description: '' }),
  'the name of an organization': ({ call, people }, name) => call(updateRealm, people.admin, { name }),
  'the full name of an account': ({ call, people }, full_name) =>
    call(updateUser, people.admin, { full_name }, { path: { user: people.member.userId } }),
  "one's own full name": ({ call, people }, full_name) => call(updateSettings, people.member, { full_name }),
  'the full name of a new account': ({ call, people }, full_name) =>
    call(createUser, people.owner, { email: 'new@example.com', full_name }),
  'a topic': ({ call, people, channels }, topic) =>
    call(send, people.member, { type: 'channel', to: channels.general, topic, content: 'x' }),
  'a status': ({ call, people }, status_text) => call(setStatus, people.member, { status_text }),
};

describe.each(Object.entries(namings))('%s', (_, naming) => {
  it('has no unprintable characters (wire facts 3.4)', async () => {
    const realm = await newRealm();
    for (const unprintable of ['\u0007', '\u0000', '\u001b', '\u0085', '\ufdd0', '\uffff']) {
      const reply = await naming(realm, `na${unprintable}me`);
      expect(answer(reply), JSON.stringify(unprintable)).toEqual([400, 'BAD_REQUEST']);
      // In JSON text some are refused before it is known what they are in.
      expect(reply.body.msg).toMatch(/position 3|contains characters that are not allowed/);
    }
  });
});
