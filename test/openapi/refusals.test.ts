import { describe, expect, test } from 'vitest';
import { gatewayResponses } from '../../infra/gateway-replies.ts';
import { errorExamples } from '../../shared/openapi/errors.ts';
import { failure } from '../../shared/serve/reply.ts';
import { key } from '../../shared/table/keys.ts';
import { handlers } from '../support/handlers.ts';
import { newRealm, type Person } from '../support/realm.ts';

/** Refusals that need crowds, other people's services or a worker: the tests of their areas meet them. */
const BEYOND = [
  'INVALID_VIDEO_CALL_PROVIDER_TOKEN',
  'PUSH_SERVICE_NOT_CONFIGURED',
  'NO_ACTIVE_PUSH_DEVICE',
  'ADMIN_ACTION_REQUIRED',
  'FAILED_TO_CONNECT_BOUNCER',
  'INTERNAL_SERVER_ERROR_ON_BOUNCER',
  'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
  'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
  'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
  'RATE_LIMIT_HIT',
  // They need an upload.
  'BAD_IMAGE',
  'REALM_UPLOAD_QUOTA',
  // The words of others: below.
  'BAD_REQUEST.413',
  'INTERNAL_SERVER_ERROR',
];

const exampleOf = (name: string): object | undefined => errorExamples[name]?.value;

describe('the errors that the document shows', () => {
  test('are what clients get', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const met = new Set<string>();
    const ask = async (id: string, as: Person | undefined, parameters = {}, path = {}, host = realm.host) => {
      const handler = handlers.get(id) ?? expect.fail(id);
      const given = handler.endpoint.method === 'GET' ? { query: parameters } : {};
      const body = handler.endpoint.method === 'GET' ? {} : parameters;
      return realm.call(handler, as, body, { path, headers: { host }, ...given });
    };
    const meets = async (name: string, ...asked: Parameters<typeof ask>) => {
      const { body } = await ask(...asked);
      expect(body, name).toEqual(exampleOf(name));
      met.add(name);
    };

    const message = { type: 'channel', to: 'general', topic: 'lunch', content: 'Who comes along?' };
    const { content, ...incomplete } = message;
    const { body: sent } = await ask('messages.send', member, message);
    const here = { message_id: sent.id };
    const { general } = realm.channels;

    await meets('REQUEST_VARIABLE_MISSING', 'messages.send', member, incomplete);
    await meets('REQUEST_CONFUSING_VAR', 'messages.send', member, { ...message, subject: 'lunch' });
    await meets('UNAUTHORIZED', 'users.getOwn', { ...member, apiKey: 'x'.repeat(32) });
    await meets('NONEXISTENT_SUBDOMAIN', 'users.getOwn', member, {}, {}, 'nowhere.test');
    await meets('UNAUTHORIZED_PRINCIPAL', 'channelFolders.create', member, { name: 'Product' });
    await meets('UNAUTHORIZED_PRINCIPAL.owner', 'domains.add', admin, { domain: 'example.org' });
    await meets('CHANNEL_ALREADY_EXISTS', 'channels.create', member, { name: 'general', subscribers: [] });
    await meets('STREAM_DOES_NOT_EXIST', 'messages.send', member, { ...message, to: 'sailing' });
    await meets('BAD_NARROW', 'messages.list', member, {
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      narrow: [{ operator: 'colour', operand: 'red' }],
    });
    await meets('BAD_EVENT_QUEUE_ID', 'events.get', member, { queue_id: 'gone', last_event_id: -1 });
    await meets('CANNOT_DEACTIVATE_LAST_USER', 'users.deactivateOwn', owner);
    await meets('BAD_REQUEST.404', 'emoji.deactivate', owner, {}, { emoji_name: 'party' });
    await meets('REACTION_DOES_NOT_EXIST', 'reactions.remove', member, { emoji_name: 'tada' }, here);
    await ask('reactions.add', member, { emoji_name: 'tada' }, here);
    await meets('REACTION_ALREADY_EXISTS', 'reactions.add', member, { emoji_name: 'tada' }, here);
    await meets('REQUEST_VARIABLE_INVALID', 'realm.update', owner, {
      message_content_edit_limit_seconds: '"soon"',
    });
    const { body: groups } = await ask('userGroups.list', owner);
    const idOf = (name: string): number => groups.user_groups.find((one: Named) => one.name === name).id;
    await meets('EXPECTATION_MISMATCH', 'realm.update', owner, {
      can_create_groups: { new: idOf('role:members'), old: idOf('role:nobody') },
    });
    const cooks = { name: 'cooks', description: '', members: [] };
    const { body: inside } = await ask('userGroups.create', owner, cooks);
    const helpers = { ...cooks, name: 'helpers', subgroups: [inside.group_id] };
    const { body: outside } = await ask('userGroups.create', owner, helpers);
    await meets('SYSTEM_GROUP_REQUIRED', 'realm.update', owner, {
      can_access_all_users_group: { new: inside.group_id },
    });
    const inUse = await ask('userGroups.deactivate', owner, {}, { user_group_id: inside.group_id });
    const objections = [{ type: 'subgroup', supergroup_ids: [outside.group_id] }];
    expect(inUse.body).toEqual({ ...exampleOf('CANNOT_DEACTIVATE_GROUP_IN_USE'), objections });
    met.add('CANNOT_DEACTIVATE_GROUP_IN_USE');
    const invitee_emails = `${member.email}, new@example.com`;
    const invited = await ask('invites.create', owner, { invitee_emails, stream_ids: [] });
    const errors = [[member.email, 'This address already has an account.', false]];
    expect(invited.body).toEqual({ ...exampleOf('INVITATION_FAILED'), errors });
    met.add('INVITATION_FAILED');
    await meets('INVALID_PUSH_DEVICE_TOKEN', 'push.sendLegacyTest', member, { token: 'unknown' });
    const inGeneral = { stream_id: general };
    await meets('CANNOT_ADMINISTER_CHANNEL', 'channels.archive', member, {}, inGeneral);
    await ask('realm.update', owner, { can_create_groups: { new: idOf('role:administrators') } });
    await meets('BAD_REQUEST', 'userGroups.create', member, { ...cooks, name: 'bakers' });
    const signIn = { username: member.email, password: 'twelve grey herons' };
    await meets('AUTHENTICATION_FAILED', 'signIn.fetchApiKey', undefined, signIn);
    await meets('PERMISSION_DENIED', 'bots.getStorage', member, {});
    await ask('settings.update', member, { new_password: signIn.password });
    await ask('users.deactivate', owner, {}, { user: member.userId });
    await meets('USER_DEACTIVATED', 'signIn.fetchApiKey', undefined, signIn);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    await meets('REALM_DEACTIVATED', 'signIn.fetchApiKey', undefined, signIn);
    expect([...met, ...BEYOND].sort()).toEqual(Object.keys(errorExamples).sort());
  });

  test('include those of the gateway and of unexpected faults, word for word', () => {
    const { responseTemplates } = gatewayResponses.REQUEST_TOO_LARGE ?? expect.fail();
    expect(JSON.parse(responseTemplates['application/json'])).toEqual(exampleOf('BAD_REQUEST.413'));
    expect(JSON.parse(failure(new Error('unplanned')).body)).toEqual(exampleOf('INTERNAL_SERVER_ERROR'));
  });
});

interface Named {
  readonly name: string;
}
