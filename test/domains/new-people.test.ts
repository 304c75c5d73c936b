import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as createUser } from '../../functions/users/create.ts';
import { TransactWriteCommand } from '../../shared/table/commands.ts';
import { addDomain, givenDomain, removeDomain, updateDomain } from '../support/domain-state.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { badRequest, changed } from '../support/realm-state.ts';

/** Adds a person with this address. */
const join = (realm: TestRealm, email: string) =>
  realm.call(createUser, realm.people.admin, { email, full_name: 'New Person' });

describe('new users in an organization that restricts addresses to its domains (specification 4.6)', () => {
  it('need an address in one of them', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    await givenDomain(realm, 'ant.example');
    await givenDomain(realm, 'bücher.example');
    for (const email of ['a@ant.example', 'b@ANT.Example', 'c@bücher.example', 'd@xn--bcher-kva.example']) {
      expect((await join(realm, email)).status, email).toBe(200);
    }
    for (const email of [
      'e@bee.example',
      'e@hill.ant.example',
      'e@giant.example',
      'e@ant.example.org',
      'e@example',
      'ant.example@bee.example',
      'e+tag@ant.example',
    ]) {
      expect(await join(realm, email), email).toMatchObject(badRequest);
    }
  });

  it('may have it in a subdomain if that is allowed (4.6/addresses)', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example', true);
    expect((await join(realm, 'a@hill.ant.example')).status).toBe(200);
    expect((await join(realm, 'b@deep.in.hill.ant.example')).status).toBe(200);
    expect(await join(realm, 'c@giant.example')).toMatchObject(badRequest);
    await updateDomain(realm, owner, 'ant.example', false);
    expect(await join(realm, 'c@hill.ant.example')).toMatchObject(badRequest);
    expect((await join(realm, 'c@ant.example')).status).toBe(200);
  });

  it('may have any address before the restriction and after it', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    expect((await join(realm, 'a+tag@bee.example')).status).toBe(200);
    await changed(realm, owner, { emails_restricted_to_domains: true });
    expect(await join(realm, 'b@bee.example')).toMatchObject(badRequest);
    await removeDomain(realm, owner, 'ant.example');
    expect((await join(realm, 'b@bee.example')).status).toBe(200);
  });

  it('cannot join while there is no domain', async () => {
    const realm = await newRealm();
    await changed(realm, realm.people.owner, { emails_restricted_to_domains: true });
    expect(await join(realm, 'a@ant.example')).toMatchObject(badRequest);
  });

  it('get the refusal for the domain before the one for an address that is taken', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const reply = await join(realm, realm.people.member.email);
    expect(reply).toMatchObject(badRequest);
    expect(reply.body.msg).toContain('example.com');
  });

  it('may still create bots with addresses of their own', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const bot = { full_name: 'Some Bot', short_name: 'some' };
    expect((await realm.call(createBot, realm.people.member, bot)).status).toBe(200);
  });

  it.each<['removed' | 'added', number]>([
    ['removed', 400],
    ['added', 200],
  ])('are checked against a domain that is %s just before they are added', async (what, status) => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const { owner, admin } = realm.people;
    await givenDomain(realm, 'ant.example');
    await givenDomain(realm, 'bee.example');
    let isDone = false;
    const slow = realm.container((send) => async (command) => {
      if (command instanceof TransactWriteCommand && !isDone) {
        isDone = true;
        await (what === 'added'
          ? addDomain(realm, owner, 'cow.example')
          : removeDomain(realm, owner, 'ant.example'));
      }
      return send(command);
    });
    const person = { email: 'a@ant.example', full_name: 'New Person' };
    expect((await slow.call(createUser, admin, person)).status).toBe(status);
    expect(isDone).toBe(true);
  });

  it('take at most 3 round trips', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    await givenDomain(realm, 'ant.example');
    const container = realm.container();
    await join(container, 'a@ant.example');
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    // A new address is not remembered, so that the rest is read after it was looked up, like in a cold container.
    await join(container, 'b@ant.example');
    expect(container.meter.roundTrips).toBe(3);
  });
});
