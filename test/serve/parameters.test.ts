import { describe, expect, it } from 'vitest';
import { ask, expectRefused, form } from './probe.ts';

describe('parameters', () => {
  it('come from path, body and query, in that order (4/form)', async () => {
    const { body } = await ask({
      path: { place: 'path%20way' },
      body: form({ place: 'body', name: 'body', count: '1' }),
      query: { place: ['query'], name: ['query'], count: ['2'], flag: ['true'] },
    });
    expect(body.input).toEqual({ place: 'path way', name: 'body', count: 1, flag: true });
    expect(body).not.toHaveProperty('ignored_parameters_unsupported');
  });

  it('are plain text for strings, and JSON for other types (4/json-values)', async () => {
    const { body } = await ask({
      body: form({
        name: '"5" é+%😀',
        count: ' 5 ',
        flag: 'false',
        ids: '[3, 1]',
        any: '{"a":[null,1.5,"x"]}',
      }),
    });
    expect(body.input).toEqual({
      name: '"5" é+%😀',
      count: 5,
      flag: false,
      ids: [3, 1],
      any: { a: [null, 1.5, 'x'] },
    });
  });

  it('are named if they are missing', async () => {
    const reply = await ask({ body: 'kind=a' });
    expectRefused(reply, 'REQUEST_VARIABLE_MISSING');
    expect(reply.body.var_name).toBe('name');
    expect((await ask({ body: 'name=' })).body.input).toEqual({ name: '' });
    expect((await ask({ body: 'name' })).body.input).toEqual({ name: '' });
  });

  it('have old names, but not beside the new ones', async () => {
    expect((await ask({ body: 'name=x&subject=old' })).body.input).toEqual({ name: 'x', topic: 'old' });
    for (const raw of [
      { body: 'name=x&subject=old&topic=new' },
      { body: 'name=x&subject=same', query: { topic: ['same'] } },
    ]) {
      const reply = await ask(raw);
      expectRefused(reply, 'REQUEST_CONFUSING_VAR');
      expect(reply.body).toMatchObject({ var_name1: 'topic', var_name2: 'subject' });
    }
  });

  it.each([
    ['count', 'five'],
    ['count', '"5"'],
    ['count', '5.5'],
    ['count', ''],
    ['count', 'null'],
    ['count', '[5]'],
    ['count', '9007199254740992'],
    ['count', '-9007199254740992'],
    ['count', '1e400'],
    ['count', 'NaN'],
    ['count', '05'],
    ['flag', '"true"'],
    ['flag', 'True'],
    ['flag', '1'],
    ['flag', 'yes'],
    ['ids', '1,2'],
    ['ids', '[1,"2"]'],
    ['ids', '{"0":1}'],
    ['ids', '[1'],
    ['ids', '[9007199254740993]'],
    ['kind', 'c'],
    ['kind', '"a"'],
    ['kind', 'A'],
    ['any', '{"a":1'],
    ['any', 'undefined'],
    ['any', '"\\ud800"'],
    ['any', '{"\\udc00":1}'],
    ['any', '[["a\\u0000b"]]'],
    ['name', 'nul\0'],
  ])('are refused if %s is %j', async (name, value) => {
    const reply = await ask({ body: form({ name: 'x', [name]: value }) });
    expectRefused(reply);
    expect(reply.body.msg).toContain(`'${name}'`);
  });

  it('are refused if they are nested too deeply, or are a number with too many digits', async () => {
    const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
    for (const any of [nested('[', ']', 60), nested('[', ']', 50_000), `${nested('{"a":', '', 30_000)}1`]) {
      expectRefused(await ask({ body: form({ name: 'x', any }) }));
    }
    expectRefused(await ask({ body: form({ name: 'x', count: '9'.repeat(400) }) }));
    expect((await ask({ body: form({ name: 'x', any: nested('[', ']', 20) }) })).status).toBe(200);
  });

  it('are refused if they have too many entries', async () => {
    const list = (entries: number) => form({ name: 'x', any: JSON.stringify(Array(entries).fill(0)) });
    expect((await ask({ body: list(10_000) })).status).toBe(200);
    expectRefused(await ask({ body: list(20_001) }));
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=`).join('&');
    expect((await ask({ body: `name=x&${fields(999)}` })).status).toBe(200);
    expectRefused(await ask({ body: `name=x&${fields(1_000)}` }));
  });

  it('are refused with 413 if they are larger than the endpoint allows', async () => {
    const reply = await ask({ body: `name=${'x'.repeat(512 * 1024)}` });
    expect([reply.status, reply.body.code]).toEqual([413, 'BAD_REQUEST']);
    expect((await ask({ body: `name=${'x'.repeat(500_000)}` })).status).toBe(200);
  });

  it('may be the largest numbers that JSON and the store represent exactly', async () => {
    for (const count of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0]) {
      expect((await ask({ body: form({ name: 'x', count: String(count) }) })).body.input.count).toBe(count);
    }
  });

  it('are refused with the position of a character that is invalid in text', async () => {
    const reply = await ask({ body: form({ name: 'é😀\0' }) });
    expect(reply.body.msg).toContain('position 3');
  });

  it('are refused with the first problem only', async () => {
    const reply = await ask({ body: form({ name: 'x', kind: 'c', count: 'x' }) });
    expect(reply.body.msg).toContain("'kind'");
    expect(reply.body.msg).not.toContain("'count'");
  });

  it('that are unknown are listed, and are not an error (2.1/ignored_parameters_unsupported)', async () => {
    const reply = await ask({
      body: form({ name: 'x', zebra: '1', __proto__: 'x', 'to string': '2', client: 'c' }),
      query: { apple: ['1'], zebra: ['3'] },
    });
    expect(reply.status).toBe(200);
    expect(reply.body.ignored_parameters_unsupported).toEqual(['apple', 'to string', 'zebra']);
    const { body } = await ask({ body: 'count=x&zebra=1' });
    expect(body).not.toHaveProperty('ignored_parameters_unsupported');
  });

  it('may be named like properties of every object', async () => {
    const reply = await ask({ body: 'name=x&__proto__=y&constructor=z&hasOwnProperty=1' });
    expect(reply.status).toBe(200);
    expect(reply.body.input).toEqual({ name: 'x' });
    expect(reply.body.ignored_parameters_unsupported).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
    const { body } = await ask({ body: form({ name: 'x', any: '{"__proto__":{"admin":true}}' }) });
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(Object.keys(body.input)).toContain('any');
  });

  it('can name the client, instead of its User-Agent', async () => {
    const agent = { 'user-agent': 'ZulipMobile/1.2 (Android 9)' };
    expect((await ask({ body: 'name=x', headers: agent })).body.client).toBe('ZulipMobile');
    expect((await ask({ body: 'name=x&client=mine', headers: agent })).body.client).toBe('mine');
    expect((await ask({ body: `name=x&client=${'c'.repeat(40)}` })).body.client).toBe('c'.repeat(30));
    expect((await ask({ body: 'name=x' })).body.client).toBe('Unspecified');
    expect((await ask({ body: 'name=x&client=%00' })).body.client).toBe('Unspecified');
    const broken = { 'user-agent': 'a\ud800b' };
    expect((await ask({ body: 'name=x', headers: broken })).body.client).toBe('a\ufffdb');
  });
});
