import { describe, expect, it } from 'vitest';
import { key } from '../../shared/table/keys.ts';
import { addDomain, domainsOf, givenDomain, removeDomain, updateDomain } from '../support/domain-state.ts';
import { newRealm } from '../support/realm.ts';
import { badRequest, changed, notPermitted, payloadsAfter, storedRealm } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const ok = { status: 200, body: { result: 'success', msg: '' } };

describe('GET /realm/domains (wire facts 8)', () => {
  it('lists the domains to every user, in the order in which they were added', async () => {
    const realm = await newRealm();
    expect(await domainsOf(realm)).toEqual([]);
    await givenDomain(realm, 'zoo.example');
    await givenDomain(realm, 'ant.example', true);
    for (const person of Object.values(realm.people)) {
      expect(await domainsOf(realm, person)).toEqual([
        { domain: 'zoo.example', allow_subdomains: false },
        { domain: 'ant.example', allow_subdomains: true },
      ]);
    }
  });
});

describe('POST /realm/domains (wire facts 8, 14.6)', () => {
  it('returns the number and the name, and everyone gets an event', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const [id, domain] = await givenDomain(realm, '  Ant.Example ', true);
    expect([id, domain]).toEqual([expect.any(Number), 'ant.example']);
    expect(await payloadsAfter(realm, before)).toEqual([
      { type: 'realm_domains', op: 'add', realm_domain: { domain: 'ant.example', allow_subdomains: true } },
    ]);
    expect(await givenDomain(realm, 'bee.example')).not.toContain(id);
  });

  it.each<[string, string]>([
    ['"quoted.example"', 'quoted.example'],
    ['Bücher.Example', 'xn--bcher-kva.example'],
    ['日本語。example', 'xn--wgv71a119e.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
    ['1-2.3.example', '1-2.3.example'],
  ])('stores %s as %s', async (given, domain) => {
    const realm = await newRealm();
    expect((await givenDomain(realm, given))[1]).toBe(domain);
  });

  it.each([
    '',
    'localhost',
    '.example.com',
    'example.com.',
    'a..b',
    '-a.example',
    'a-.example',
    'a_b.example',
    'a b.example',
    'a@b.example',
    'a/b.example',
    'é/b.example',
    'ex%61mple.com',
    'éx%61mple.com',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}ab`,
    `${'ü'.repeat(60)}.example`,
    'xn--é.example',
    '😀.example',
  ])('refuses %j', async (domain) => {
    const realm = await newRealm();
    expect(await addDomain(realm, realm.people.owner, domain)).toMatchObject(badRequest);
    expect(await domainsOf(realm)).toEqual([]);
  });

  it('refuses a domain that is listed already, in any case', async () => {
    const realm = await newRealm();
    await givenDomain(realm, 'bücher.example');
    for (const domain of ['BÜCHER.example', 'xn--bcher-kva.example', 'XN--BCHER-KVA.EXAMPLE']) {
      const reply = await addDomain(realm, realm.people.owner, domain, true);
      expect(reply).toMatchObject(badRequest);
      expect(reply.body.msg).toContain('xn--bcher-kva.example');
    }
    expect(await domainsOf(realm)).toEqual([{ domain: 'xn--bcher-kva.example', allow_subdomains: false }]);
  });

  it('refuses more domains than the limit', async () => {
    const realm = await newRealm();
    const list = Array.from({ length: 500 }, (_, i) => ({
      id: i,
      domain: `d${i}.example`,
      allowSubdomains: false,
    }));
    await realm.outside.table.put(key('domains', { realm: realm.realm }), { version: 1, list });
    expect(await addDomain(realm, realm.people.owner, 'ant.example')).toMatchObject(badRequest);
    await removeDomain(realm, realm.people.owner, 'd7.example');
    await givenDomain(realm, 'ant.example');
  });

  it('adds a domain once for concurrent requests, and all of several domains', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const race = (domains: string[]) =>
      Promise.all(domains.map((domain) => addDomain(realm.container(), owner, domain)));
    const same = await race(['one.example', 'ONE.example', 'one.example', 'one.example']);
    expect(same.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const several = await race(['a.example', 'b.example', 'c.example', 'd.example']);
    expect(several.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await domainsOf(realm)).toHaveLength(5);
    const ids = [...same, ...several].flatMap(({ body }) => body.new_domain?.[0] ?? []);
    expect(new Set(ids).size).toBe(5);
  });
});

describe('PATCH /realm/domains/{domain} (specification 4.6)', () => {
  it('says whether subdomains are allowed, and everyone gets an event (wire facts 8, 14.6) (4.6/domain, 4.6/reply)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    await givenDomain(realm, 'bee.example');
    const before = await lastNumber(realm);
    expect(await updateDomain(realm, owner, 'ant.example', true)).toMatchObject(ok);
    expect(await domainsOf(realm)).toEqual([
      { domain: 'ant.example', allow_subdomains: true },
      { domain: 'bee.example', allow_subdomains: false },
    ]);
    expect(await payloadsAfter(realm, before)).toEqual([
      {
        type: 'realm_domains',
        op: 'change',
        realm_domain: { domain: 'ant.example', allow_subdomains: true },
      },
    ]);
    // Said again, it changes nothing.
    const last = await lastNumber(realm);
    expect(await updateDomain(realm, owner, 'ant.example', true)).toMatchObject(ok);
    expect(await payloadsAfter(realm, last)).toEqual([]);
  });

  it('names an unknown domain in its refusal, which is not a 404 (wire facts 8)', async () => {
    const realm = await newRealm();
    const reply = await updateDomain(realm, realm.people.owner, 'nowhere.example', true);
    expect(reply).toMatchObject(badRequest);
    expect(reply.body.msg).toContain('nowhere.example');
  });

  it('accepts the domain as it is listed, percent-encoded or not (wire facts 8)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenDomain(realm, 'bücher.example');
    expect(await updateDomain(realm, owner, 'XN--BCHER-KVA.example', true)).toMatchObject(badRequest);
    expect(await updateDomain(realm, owner, ' xn--bcher-kva.example', true)).toMatchObject(badRequest);
    expect(await updateDomain(realm, owner, 'Bücher.example', true)).toMatchObject(ok);
    expect(await domainsOf(realm)).toEqual([{ domain: 'xn--bcher-kva.example', allow_subdomains: true }]);
  });

  it.each(['"true"', 1, null, 'yes'])(
    'refuses %o for allow_subdomains, a boolean (4.6/allow_subdomains)',
    async (value) => {
      const realm = await newRealm();
      await givenDomain(realm, 'ant.example');
      expect(await updateDomain(realm, realm.people.owner, 'ant.example', value)).toMatchObject(badRequest);
    },
  );

  it('ends in the state of the last event after concurrent changes', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    const before = await lastNumber(realm);
    await Promise.all(
      [true, false, true, false].map((allow) => updateDomain(realm.container(), owner, 'ant.example', allow)),
    );
    const told = await payloadsAfter(realm, before);
    expect(told.length).toBeGreaterThan(0);
    expect(await domainsOf(realm)).toEqual([told.at(-1)?.realm_domain]);
  });
});

describe('who may change domains (specification 5)', () => {
  it.each(['admin', 'moderator', 'member', 'guest', 'bot'] as const)(
    'owners may, but not a %s (4.6/owners)',
    async (name) => {
      const realm = await newRealm();
      const person = realm.people[name];
      await givenDomain(realm, 'ant.example');
      expect(await addDomain(realm, person, 'bee.example')).toMatchObject(notPermitted);
      expect(await updateDomain(realm, person, 'ant.example', true)).toMatchObject(notPermitted);
      expect(await removeDomain(realm, person, 'ant.example')).toMatchObject(notPermitted);
      expect(await domainsOf(realm)).toEqual([{ domain: 'ant.example', allow_subdomains: false }]);
    },
  );
});

describe('DELETE /realm/domains/{domain} (wire facts 8, 14.6)', () => {
  it('removes a domain, and everyone gets an event', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    await givenDomain(realm, 'bee.example');
    const before = await lastNumber(realm);
    expect(await removeDomain(realm, owner, 'ant.example')).toMatchObject(ok);
    expect(await domainsOf(realm)).toEqual([{ domain: 'bee.example', allow_subdomains: false }]);
    expect(await payloadsAfter(realm, before)).toEqual([
      { type: 'realm_domains', op: 'remove', domain: 'ant.example' },
    ]);
    expect(await removeDomain(realm, owner, 'ant.example')).toMatchObject(badRequest);
    expect(await givenDomain(realm, 'ant.example')).toContain('ant.example');
  });

  it('turns the restriction off with the last domain, as the reference does', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    await givenDomain(realm, 'bee.example');
    await removeDomain(realm, owner, 'ant.example');
    expect((await storedRealm(realm)).settings.emails_restricted_to_domains).toBe(true);
    const before = await lastNumber(realm);
    await removeDomain(realm, owner, 'bee.example');
    expect((await storedRealm(realm)).settings.emails_restricted_to_domains).toBe(false);
    expect(await payloadsAfter(realm, before)).toEqual([
      { type: 'realm', op: 'update', property: 'emails_restricted_to_domains', value: false },
      { type: 'realm_domains', op: 'remove', domain: 'bee.example' },
    ]);
  });

  it('also turns it off when the last two are removed at once', async () => {
    for (let round = 0; round < 5; round++) {
      const realm = await newRealm({ emails_restricted_to_domains: true });
      const { owner } = realm.people;
      await givenDomain(realm, 'ant.example');
      await givenDomain(realm, 'bee.example');
      const replies = await Promise.all(
        ['ant.example', 'bee.example'].map((domain) => removeDomain(realm.container(), owner, domain)),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect((await storedRealm(realm)).settings.emails_restricted_to_domains).toBe(false);
    }
  });

  it('keeps a concurrent change of a setting', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const { owner } = realm.people;
    await givenDomain(realm, 'ant.example');
    await Promise.all([
      removeDomain(realm.container(), owner, 'ant.example'),
      changed(realm.container(), owner, { waiting_period_threshold: 3 }),
    ]);
    expect((await storedRealm(realm)).settings).toMatchObject({
      emails_restricted_to_domains: false,
      waiting_period_threshold: 3,
    });
  });
});
