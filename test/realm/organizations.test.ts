import { describe, expect, it } from 'vitest';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as listSubscriptions } from '../../functions/subscriptions/list.ts';
import { accessOrganizationOf, loadOrganizations } from '../../infra/org/organizations.ts';
import { createOrganization, type OrganizationInput } from '../../shared/domain/organization/create.ts';
import { changeHosts } from '../../shared/domain/realm-edit/hosts.ts';
import { HOME } from '../../shared/kernel/lookup.ts';
import { digestOf } from '../../shared/kernel/text.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { ANY_HOST, loadOrganization, type Organization } from '../../shared/model/realm/hosts.ts';
import { key } from '../../shared/table/keys.ts';
import { lost, mishaps, requestOf, unheard } from '../support/faults.ts';
import { given, newService, refusalOf, type TestService, whoIs } from '../support/service.ts';

const nameAt = async (service: TestService, host: string): Promise<string | number> => {
  const { status, body } = await service.call(host, getSettings, undefined);
  return status === 200 ? body.realm_name : status;
};

const organization = async (service: TestService, realm: string): Promise<Organization> => {
  const found = await loadOrganization(service.outside.table, realm);
  if (!found) throw new Error(`there is no ${realm}`);
  return found;
};

const NO_OWNER = 'The owner cannot have the name or address of the notification bot.';

describe('the first organization', () => {
  it('answers at every host, with one owner and one channel, and a key stored as its digest', async () => {
    const service = await newService();
    expect(await nameAt(service, 'd1234.cloudfront.net')).toBe(400);
    const { realm, hosts, owner } = await given(service, {
      name: ' Acme ',
      ownerName: 'Ada Lovelace',
      host: 'Chat.Example.com',
    });
    expect([realm, hosts]).toEqual([HOME, [ANY_HOST, 'chat.example.com']]);
    for (const host of ['d1234.cloudfront.net', 'chat.example.com']) {
      expect(await nameAt(service, host)).toBe('Acme');
      expect(await whoIs(service, host, owner)).toEqual({
        userId: owner.userId,
        role: roles.owner,
        name: 'Ada Lovelace',
      });
    }
    const { body } = await service.call('chat.example.com', listSubscriptions, owner);
    expect(body.subscriptions).toMatchObject([{ name: 'general' }]);
    const { table } = service.outside;
    expect(await table.get('account', { realm, email: owner.email })).toMatchObject({
      userId: owner.userId,
      keyDigest: digestOf(owner.apiKey),
    });
    expect(await table.get('owners', { realm })).toMatchObject({ count: 1 });
  });

  it('is created once if the reply of the store is lost, and its key is the one that was printed', async () => {
    const service = await newService();
    const { owner } = await createOrganization(service.container(mishaps({ transact: [unheard, unheard] })), {
      name: 'Acme',
      ownerEmail: 'ada@example.com',
    });
    expect(await whoIs(service, 'any.test', owner)).toMatchObject({ name: 'ada' });
    expect(await loadOrganizations(service.outside.table)).toHaveLength(1);
  });

  it('is not created if no transaction succeeds, and nothing is left', async () => {
    const service = await newService();
    let now = Date.now();
    const patient = service.container(mishaps({ transact: Array(20).fill(lost) }));
    const wait = async (): Promise<void> => {
      now += 2000;
    };
    const outside = { ...patient, now: () => now, wait };
    const wanted = { name: 'Acme', ownerEmail: 'ada@example.com' };
    await expect(createOrganization(outside, wanted)).rejects.toThrow('TimeoutError');
    expect(await loadOrganizations(service.outside.table)).toEqual([]);
    expect(await nameAt(service, 'any.test')).toBe(400);
  });

  it('is refused a second time, with advice for a key that was lost', async () => {
    const service = await newService();
    const { owner } = await given(service, { host: 'chat.example.com' });
    const again =
      "already, where 'ADA@example.com' has an account: password-link makes a link for a password, rotate-key a new key";
    expect(await refusalOf(given(service, { ownerEmail: 'ADA@example.com' }))).toBe(
      `Every organization but the first needs a host; this service has the organization 'Acme' (ID main) ${again}.`,
    );
    expect(await refusalOf(given(service, { ownerEmail: 'ADA@example.com', host: 'chat.example.com' }))).toBe(
      `'chat.example.com' leads to the organization 'Acme' (ID main) ${again}.`,
    );
    expect(await refusalOf(given(service, { ownerEmail: 'eve@example.com' }))).toMatch(
      /\(ID main\) already\.$/,
    );
    expect(await whoIs(service, 'any.test', owner)).toMatchObject({ role: roles.owner });
  });
});

describe('an organization', () => {
  it('beside the first has its own users and keys, even with the same email addresses', async () => {
    const service = await newService();
    const first = await given(service);
    const second = await given(service, { name: 'Beta', host: 'beta.example.com' });
    expect([second.realm, second.hosts]).toEqual(['beta.example.com', ['beta.example.com']]);
    expect(await nameAt(service, 'beta.example.com')).toBe('Beta');
    expect(await whoIs(service, 'beta.example.com', second.owner)).toMatchObject({ role: roles.owner });
    expect(await whoIs(service, 'beta.example.com', first.owner)).toBe(401);
    expect(await whoIs(service, 'other.example.com', second.owner)).toBe(401);
  });

  const refused: readonly [Partial<OrganizationInput>, string | RegExp][] = [
    [{ name: '  ' }, 'An organization needs a name.'],
    [{ name: 'x'.repeat(41) }, 'The name of an organization has at most 40 characters.'],
    [{ name: 'a\u0007' }, 'The name has a character at position 2 that cannot be shown.'],
    [{ ownerEmail: 'ada@example' }, 'Enter a valid email address.'],
    [{ ownerName: 'Ada*' }, 'A full name cannot contain the character *'],
    [{ ownerEmail: 'a*b@example.com' }, 'A full name cannot contain the character *'],
    [{ ownerName: 'notification bot' }, NO_OWNER],
    [{ ownerEmail: 'Notification-Bot@parlance.invalid' }, NO_OWNER],
    [{ host: 'main' }, /^'main' is not the name of a host such as chat\.example\.com: it has no dot\.$/],
    [{ host: 'a.example.com:443' }, /: it may have letters, digits, hyphens and dots only\.$/],
    [{ host: 'https://a.example.com' }, /: it may have letters/],
    [{ host: '*.example.com' }, /: it may have letters/],
    [{ host: 'a..com' }, /: it has an empty part before, after or between dots\.$/],
    [{ host: '-a.com' }, /: a part of it begins or ends with a hyphen\.$/],
    [{ host: '127.0.0.1' }, /: it is an address, or ends like one\.$/],
    [{ host: '*' }, /: it has no dot\.$/],
    [{ host: `${'a'.repeat(64)}.com` }, /: a part of it has more than 63 characters\.$/],
  ];
  it.each(refused)('cannot be made with %j', async (wanted, words) => {
    const service = await shared;
    expect(await refusalOf(given(service, wanted))).toEqual(
      typeof words === 'string' ? words : expect.stringMatching(words),
    );
    expect(await loadOrganizations(service.outside.table)).toEqual([]);
  });
  const shared = newService();

  it('is found by its ID and by any of its hosts, and by default if it is the only one', async () => {
    const service = await newService();
    const { table } = service.outside;
    const find = (name?: string) => accessOrganizationOf(table, name);
    expect(await refusalOf(find())).toBe('There is no organization yet.');
    await given(service, { host: 'acme.test' });
    expect(await find()).toMatchObject({ realm: HOME, name: 'Acme' });
    await given(service, { name: 'Beta', host: 'bücher.test' });
    expect(await refusalOf(find())).toContain('There is more than one organization');
    for (const name of ['main', '*', 'acme.test', 'ACME.test'])
      expect(await find(name)).toMatchObject({ name: 'Acme' });
    for (const name of ['xn--bcher-kva.test', 'Bücher.test']) {
      expect(await find(name)).toMatchObject({ name: 'Beta' });
    }
    for (const name of ['', 'gamma.test', 'x/realm', 'y'.repeat(3000)]) {
      expect(await refusalOf(find(name))).toContain('There is no organization with the ID or host');
    }
  });

  it('is listed with its hosts, in the order of IDs, including the default one of an older service', async () => {
    const service = await newService();
    const { table, uuid } = service.outside;
    await given(service, { host: 'acme.test' });
    for (const host of ['z.test', 'a.test']) await given(service, { name: host, host });
    await table.transact([{ delete: key('organization', { realm: HOME }) }], uuid());
    expect((await loadOrganizations(table)).map(({ realm, hosts, name }) => [realm, hosts, name])).toEqual([
      [HOME, [ANY_HOST], 'Acme'],
      ['a.test', ['a.test'], 'a.test'],
      ['z.test', ['z.test'], 'z.test'],
    ]);
    const found = await accessOrganizationOf(table, HOME);
    expect(await changeHosts(service.outside, found, { add: 'new.test' })).toEqual([ANY_HOST, 'new.test']);
    expect((await loadOrganizations(table)).map(({ realm }) => realm)).toEqual(['a.test', HOME, 'z.test']);
  });
});

describe('hosts', () => {
  it('can be attached and removed, and a warm container notices at once', async () => {
    const service = await newService();
    await given(service);
    const { realm, owner } = await given(service, { name: 'Beta', host: 'old.test' });
    const beta = await organization(service, realm);
    expect([await nameAt(service, 'new.test'), await nameAt(service, 'old.test')]).toEqual(['Acme', 'Beta']);
    expect(await changeHosts(service.outside, beta, { add: 'New.test' })).toEqual(['old.test', 'new.test']);
    expect(await changeHosts(service.outside, beta, { add: 'new.test' })).toEqual(['old.test', 'new.test']);
    expect(await whoIs(service, 'new.test', owner)).toMatchObject({ role: roles.owner });
    expect(await changeHosts(service.outside, beta, { add: 'more.test', remove: 'old.test' })).toEqual([
      'new.test',
      'more.test',
    ]);
    expect(await nameAt(service, 'old.test')).toBe('Acme');
    expect(await whoIs(service, 'more.test', owner)).toMatchObject({ role: roles.owner });
    expect(await refusalOf(given(service, { host: 'old.test' }))).toBe(
      "'old.test' is the ID of the organization 'Beta', which has moved: make the new one at another host, then attach this one to it.",
    );
    const gamma = await organization(
      service,
      (await given(service, { name: 'Gamma', host: 'c.test' })).realm,
    );
    await changeHosts(service.outside, gamma, { add: 'old.test' });
    expect(await refusalOf(accessOrganizationOf(service.outside.table, 'old.test'))).toContain(
      "is the ID of the organization 'Beta' and a host of 'Gamma'",
    );
  });

  it('stay the same if a change is refused', async () => {
    const service = await newService();
    const acme = await organization(service, (await given(service)).realm);
    const beta = await organization(
      service,
      (await given(service, { name: 'Beta', host: 'beta.test' })).realm,
    );
    const refused = (which: Organization, change: { add?: string; remove?: string }) =>
      refusalOf(changeHosts(service.outside, which, change));
    expect(await refused(acme, { add: 'beta.test' })).toBe(
      "'beta.test' already belongs to another organization.",
    );
    expect(await refused(acme, { add: 'x.test', remove: 'beta.test' })).toBe(
      "'beta.test' is not a host of this organization.",
    );
    expect(await refused(beta, { remove: 'beta.test' })).toBe(
      "'beta.test' is the only host of this organization: attach another one first.",
    );
    expect(await refused(beta, { add: 'beta.test', remove: 'beta.test' })).toContain('at once');
    expect(await refused(acme, { remove: '*' })).toContain('is not the name of a host');
    expect(await loadOrganizations(service.outside.table)).toEqual([beta, acme]);
    expect(await nameAt(service, 'beta.test')).toBe('Beta');
  });

  it('are changed once if the reply of the store is lost', async () => {
    const service = await newService();
    const acme = await organization(service, (await given(service)).realm);
    const flaky = service.container(mishaps({ transact: [unheard, unheard] }));
    expect(await changeHosts(flaky, acme, { add: 'acme.test' })).toEqual([ANY_HOST, 'acme.test']);
    expect(await organization(service, HOME)).toMatchObject({ hosts: [ANY_HOST, 'acme.test'], version: 2 });
  });
});

describe('of concurrent commands', () => {
  const outcomes = async (promises: readonly Promise<unknown>[]) => {
    const settled = await Promise.allSettled(promises);
    const lost = settled.filter((each) => each.status === 'rejected').map(({ reason }) => reason);
    for (const reason of lost) expect(reason).toMatchObject({ name: 'Refusal' });
    return { won: settled.length - lost.length, words: lost.map(({ message }) => message) };
  };
  const wanted = (more: object) => ({ name: 'Acme', ownerEmail: 'ada@example.com', ...more });

  it('one of several that create the first organization succeeds, and the others are refused', async () => {
    const service = await newService();
    const { won, words } = await outcomes(
      [1, 2, 3].map((i) => createOrganization(service.container(), wanted({ name: `Acme ${i}` }))),
    );
    expect(won).toBe(1);
    for (const text of words) expect(text).toMatch(/needs a host; .* already, where 'ada@example.com' has/);
    expect(await loadOrganizations(service.outside.table)).toHaveLength(1);
  });

  it('one of several that use the same host succeeds, but all with different hosts do, and one is the default', async () => {
    const service = await newService();
    const same = ['one.test', 'one.test', 'two.test', 'two.test', 'three.test'];
    const { won, words } = await outcomes(
      same.map((host) => createOrganization(service.container(), wanted({ name: host, host }))),
    );
    expect(won).toBe(3);
    for (const text of words)
      expect(text).toMatch(/^'(one|two)\.test' leads to the organization '(one|two)\.test'/);
    const all = await loadOrganizations(service.outside.table);
    expect(all.map(({ name }) => name).sort()).toEqual(['one.test', 'three.test', 'two.test']);
    expect(all.filter(({ hosts }) => hosts.includes(ANY_HOST)).map(({ realm }) => realm)).toEqual([HOME]);
    for (const host of new Set(same)) expect(await nameAt(service, host)).toBe(host);
  });

  it('one that creates an organization is refused if its host is attached to another one meanwhile', async () => {
    const service = await newService();
    const acme = await organization(service, (await given(service)).realm);
    const slow = service.container((send) => async (command) => {
      if (requestOf(command) === 'transact') await changeHosts(service.outside, acme, { add: 'new.test' });
      return send(command);
    });
    expect(await refusalOf(createOrganization(slow, wanted({ host: 'new.test' })))).toMatch(
      /^'new\.test' leads to the organization 'Acme' \(ID main\) already/,
    );
    expect(await loadOrganizations(service.outside.table)).toMatchObject([{ hosts: [ANY_HOST, 'new.test'] }]);
  });

  it('only one that attaches a host succeeds for different organizations, but all for one organization', async () => {
    const service = await newService();
    const acme = await organization(service, (await given(service)).realm);
    const beta = await organization(
      service,
      (await given(service, { name: 'Beta', host: 'beta.test' })).realm,
    );
    const { won } = await outcomes(
      [acme, beta].map((each) => changeHosts(service.container(), each, { add: 'both.test' })),
    );
    expect(won).toBe(1);
    const names = ['1.test', '2.test', '3.test'];
    await Promise.all(names.map((add) => changeHosts(service.container(), acme, { add })));
    const all = await loadOrganizations(service.outside.table);
    expect(all.find(({ realm }) => realm === HOME)?.hosts).toEqual(expect.arrayContaining(names));
    expect(all.flatMap(({ hosts }) => hosts).filter((host) => host === 'both.test')).toHaveLength(1);
    const holder = all.find(({ hosts }) => hosts.includes('both.test'));
    expect(await nameAt(service, 'both.test')).toBe(holder?.name);
  });
});
