import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalService, STARTING, startLocalService } from '../support/local-service.ts';
import { basic } from '../support/raw-request.ts';

let service: LocalService;

beforeAll(async () => {
  service = await startLocalService({ API_RATE_LIMIT: '3' });
}, STARTING);

afterAll(() => service?.end());

test('a function that only reads may count requests, and `API_RATE_LIMIT` says how many there may be', async () => {
  const text = await readFile(service.zuliprc('member'), 'utf8');
  const [, email = ''] = /^email=(.*)$/m.exec(text) ?? [];
  const [, apiKey = ''] = /^key=(.*)$/m.exec(text) ?? [];
  const ask = async (): Promise<[number, string | null]> => {
    const headers = { authorization: basic({ email, apiKey }) };
    const { status, headers: answered } = await fetch(new URL('/api/v1/users/me', service.address), {
      headers,
    });
    return [status, answered.get('x-ratelimit-remaining')];
  };
  // Four within one minute, wherever in a minute the first one falls.
  const answers = [];
  for (let sent = 0; sent < 8; sent++) answers.push(await ask());
  expect(answers[0]).toEqual([200, '2']);
  expect(answers).toContainEqual([200, '0']);
  expect(answers).toContainEqual([429, '0']);
});
