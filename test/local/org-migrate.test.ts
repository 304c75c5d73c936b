import { expect, inject, test } from 'vitest';
import { runCommand } from '../../infra/org/command.ts';
import { createOrganization } from '../../shared/domain/organization/create.ts';
import { defaultRealmSettings } from '../../shared/model/realm/realm.ts';
import { key } from '../../shared/table/keys.ts';
import { newService } from '../support/service.ts';

test('npm run org -- migrate upgrades every organization to the newest versions, and does nothing the second time', async () => {
  const { table: name, outside } = await newService();
  const { table } = outside;
  const made = async (given: { readonly name: string; readonly host?: string }) => {
    const organization = { ...given, ownerEmail: 'ada@example.com', ownerName: undefined };
    const { realm } = await createOrganization(outside, { host: undefined, ...organization });
    const at = key('realm', { realm });
    await table.update(at, { set: { settings: { presence_disabled: true } }, remove: ['v'] });
    return async () => (await table.storedPage({ pk: at.pk, from: at.sk, to: at.sk })).items[0];
  };
  const stored = [await made({ name: 'Acme' }), await made({ name: 'Beta', host: 'beta.test' })];
  const migrate = async (...args: readonly string[]) => {
    const lines: string[] = [];
    const code = await runCommand(['migrate', '--table', name, '--region', 'us-east-1', ...args], {
      environment: { AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb') },
      print: (text) => lines.push(text),
      tell: (line) => lines.push(line),
    });
    expect(code).toBe(0);
    return lines;
  };
  const lineOf = (organization: string): string =>
    `${organization}, realm: is complete in version 2, 1 changed.`;
  const [acme, beta] = [lineOf("'Acme' (ID main)"), lineOf("'Beta' (ID beta.test)")];

  expect(await migrate('--org', 'beta.test')).toEqual([beta]);
  expect(await stored[0]?.()).not.toHaveProperty('v');
  expect(await migrate()).toEqual([beta, acme]);
  const items = await Promise.all(stored.map((read) => read()));
  for (const item of items) {
    expect(item).toMatchObject({ v: 2, settings: { ...defaultRealmSettings, presence_disabled: true } });
  }
  expect(await migrate()).toEqual([beta, acme]);
  expect(await Promise.all(stored.map((read) => read()))).toEqual(items);
});
