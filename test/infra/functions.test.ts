import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { buildFunctions } from '../../infra/build.ts';
import { withPureConstants } from '../../infra/bundle-plugins.ts';
import { filesBeside } from '../../infra/markdown-bundle.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { bundleBudget, designBudgets } from '../support/design-budgets.ts';
import { newRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';
import { storedMessage } from '../support/stored.ts';

// Where the stack is tested too: whichever comes first builds.
const outdir = join(import.meta.dirname, '../../dist');
const { bundles } = await buildFunctions({ outdir });
const { outputs } = JSON.parse(await readFile(join(outdir, 'metafile.json'), 'utf8'));

const fileOf = (id: string): string => join(outdir, id, 'index.mjs');
const contentsOf = (id: string): string[] => {
  const output = Object.entries<{ inputs: object }>(outputs).find(([name]) =>
    name.endsWith(`/${id}/index.mjs`),
  );
  return Object.keys(output?.[1].inputs ?? expect.fail(`${id} is not built`));
};

describe('the bundles of the endpoints', () => {
  test('are within the budgets of the design (section 7), in bytes', () => {
    const over = endpoints.flatMap(({ id }) => {
      const budget = bundleBudget(contentsOf(id));
      const bytes = bundles[id]?.bytes ?? Number.NaN;
      return bytes <= budget ? [] : [`${id}: ${bytes} of ${budget}`];
    });
    expect(over).toEqual([]);
  });

  test.each([
    [
      'katex.mjs',
      'the typesetter of formulas',
      ['messages.send', 'messages.update'],
      designBudgets.typesetterBytes,
    ],
    [
      'linkifiers.mjs',
      'the engine of linkifiers',
      ['messages.send', 'messages.list', 'events.get'],
      designBudgets.linkifierBytes,
    ],
  ])('have %s, %s, in a separate file, and only if they load it', async (file, _, some, budget) => {
    const loading = Object.entries<{ imports: { path: string }[] }>(outputs)
      .filter(([, { imports }]) => imports.some(({ path }) => path === `./${file}`))
      .map(([output]) => basename(dirname(output)));
    expect(loading).toEqual(expect.arrayContaining(some));
    for (const id of Object.keys(bundles))
      expect(existsSync(join(outdir, id, file)), id).toBe(loading.includes(id));
    const { size } = await stat(join(outdir, 'messages.send', file));
    expect(size).toBeLessThanOrEqual(budget);
    expect(filesBeside).toHaveProperty([file]);
  });

  test('leave out modules that the function does not use', () => {
    const hasParser = (id: string) => contentsOf(id).some((file) => file.includes('/markdown-it/'));
    expect(['messages.send', 'typing.sendEdit', 'reminders.list', 'realm.getIcon'].filter(hasParser)).toEqual(
      ['messages.send'],
    );
  });

  test('contain their own declaration and no other', async () => {
    const ids = new Set(endpoints.map(({ id }) => id));
    for (const id of ids) {
      const said = (await readFile(fileOf(id), 'utf8')).matchAll(/\bid:"(\w+\.\w+)"/g);
      expect([...said].map(([, it]) => it).filter((it) => ids.has(it ?? ''))).toEqual([id]);
    }
  });

  test('answer requests', async () => {
    const realm = await newRealm();
    Object.assign(process.env, { TABLE_NAME: TABLE, AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb') });
    const { email, apiKey, userId } = realm.people.member;
    const call = async (id: string, parameters: Record<string, string>): Promise<unknown> => {
      const { handler }: { handler: Served } = await import(fileOf(id));
      const event = {
        headers: {
          host: realm.host,
          authorization: `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(parameters).toString(),
        isBase64Encoded: false,
        pathParameters: null,
        multiValueQueryStringParameters: null,
        requestContext: { requestId: randomUUID(), domainName: realm.host },
      };
      const { statusCode, body } = await handler(event as unknown as Parameters<Served>[0]);
      return { statusCode, ...JSON.parse(body) };
    };
    const message = { type: 'stream', to: 'general', topic: 'bundles', content: '**hello** :tada:' };
    const sent = await call('messages.send', message);
    expect(sent).toMatchObject({ statusCode: 200, result: 'success', id: expect.any(Number) });
    const formula = await call('messages.send', { ...message, content: '$$x^2$$' });
    const { rendered } = await storedMessage(realm, (formula as { id: number }).id);
    expect(rendered).toContain('<span class="katex">');
    expect(await call('users.getOwn', {})).toMatchObject({ statusCode: 200, user_id: userId });
    expect(await call('messages.send', { ...message, to: 'nowhere' })).toMatchObject({ statusCode: 400 });
  });
});

describe('withPureConstants', () => {
  test('marks constants with calls in their values, and nothing else', () => {
    const source = [
      "const one = make('a; b');",
      'export const two: Two = {',
      '  three: () => {',
      '    return 3;',
      '  },',
      '};',
      'const four = (five: number): number => {',
      '  return five;',
      '};',
      "export const six = 'seven';",
      'const eight = /9;$/;',
      'let ten = make();',
    ].join('\n');
    expect(withPureConstants(source).split('\n')).toEqual([
      "const one = /* @__PURE__ */ (() => (make('a; b')))();",
      'export const two: Two = /* @__PURE__ */ (() => ({',
      '  three: () => {',
      '    return 3;',
      '  },',
      '}))();',
      'const four = (five: number): number => {',
      '  return five;',
      '};',
      "export const six = 'seven';",
      'const eight = /9;$/;',
      'let ten = make();',
    ]);
  });
});
