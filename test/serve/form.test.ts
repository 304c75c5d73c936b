import { describe, expect, it } from 'vitest';
import type { Raw } from '../support/raw-request.ts';
import { ask, expectRefused, FORM } from './probe.ts';

describe('bodies', () => {
  it.each([
    'name=%',
    'name=%zz',
    'name=%E9',
    'name=%ED%A0%80',
    'name=%C0%AF',
    '%=x&name=x',
    'name=x&other=%F8',
  ])('are refused if the encoding is invalid: %s', async (body) => expectRefused(await ask({ body })));

  it('have names that are plain text, even if they have a meaning in JavaScript or PHP', async () => {
    const others = ['10', '2', '__proto__', 'a[]', 'a[b]', 'constructor', 'other+name'];
    const body = others.map((name) => `${name}=1`).join('&');
    const { body: read } = await ask({ body: `&&name=a+b%2Bc%26=&&${body}&` });
    expect(read.input).toEqual({ name: 'a b+c&=' });
    expect(read.ignored_parameters_unsupported).toEqual(others.map((name) => name.replace('+', ' ')).sort());
  });

  it('have at most 1,000 names, however many empty pairs stand between them', async () => {
    const names = Array.from({ length: 999 }, (_, i) => `x${i}=1`).join('&&&');
    const { body } = await ask({ body: `${names}&&&name=last` });
    expect(body.input).toEqual({ name: 'last' });
    expectRefused(await ask({ body: `${names}&&&one=more&name=last` }));
  });

  it('are refused if a name occurs twice', async () => {
    for (const raw of [
      { body: 'name=x&name=x' },
      { body: 'name=x&other=1&other=2' },
      { body: 'name=x', query: { count: ['1', '2'] } },
      { body: 'name=x', query: { other: ['1', '1'] } },
    ]) {
      expectRefused(await ask(raw));
    }
  });

  it('are refused if the encoding of the path is invalid', async () => {
    expectRefused(await ask({ path: { place: '%E0%A4%A' }, body: 'name=x' }));
  });

  it('of other types have no parameters', async () => {
    for (const type of ['application/json', 'text/plain', 'application/octet-stream', '', 'nonsense']) {
      const reply = await ask({ body: '{"name":"x"}', headers: { 'content-type': type } });
      expectRefused(reply, 'REQUEST_VARIABLE_MISSING');
    }
    const { body } = await ask({
      body: '{"name":"body"}',
      query: { name: ['query'] },
      headers: { 'content-type': 'application/json' },
    });
    expect(body.input).toEqual({ name: 'query' });
  });

  it('are read for any spelling of their content type', async () => {
    for (const type of [`${FORM}; charset=UTF-8`, FORM.toUpperCase(), `${FORM};charset=utf-8`]) {
      expect((await ask({ body: 'name=x', headers: { 'content-type': type } })).status).toBe(200);
    }
  });

  it('may be binary, and must then be UTF-8', async () => {
    const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
    expect((await ask({ body: bytes('name=x') })).body.input).toEqual({ name: 'x' });
    expectRefused(await ask({ body: bytes('name=\xe9') }));
  });
});

describe('multipart bodies', () => {
  /** What `FormData` becomes on its way, as zulip-js sends it. */
  async function multipart(fields: FormData): Promise<Raw> {
    const request = new Request('http://localhost', { method: 'POST', body: fields });
    const type = request.headers.get('content-type') ?? '';
    return { body: new Uint8Array(await request.arrayBuffer()), headers: { 'content-type': type } };
  }

  const formData = (fields: Readonly<Record<string, string>>): FormData => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  };

  it('are read as zulip-js sends them', async () => {
    const name = 'Zeile\r\nzwei; é 😀 "quoted" --';
    const reply = await ask(await multipart(formData({ name, ids: '[1,2]', flag: 'true', other: 'x' })));
    expect(reply.body.input).toEqual({ name, ids: [1, 2], flag: true });
    expect(reply.body.ignored_parameters_unsupported).toEqual(['other']);
  });

  it('are read as older clients send them', async () => {
    const line = '--------------------------735323031399963166993862';
    const part = (name: string, value: string) =>
      `--${line}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${line}` };
    const body = Buffer.from(`${part('name', 'x')}${part('count', '7')}--${line}--\r\n`);
    expect((await ask({ headers, body })).body.input).toEqual({ name: 'x', count: 7 });
    const unended = Buffer.from(`${part('name', 'x')}--${line}--`);
    expect((await ask({ headers, body: unended })).body.input).toEqual({ name: 'x' });
  });

  it('may have no parts at all', async () => {
    expectRefused(await ask(await multipart(new FormData())), 'REQUEST_VARIABLE_MISSING');
    // As zulip-js sends no fields: its type says multipart, and there is no body at all.
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expectRefused(await ask({ headers }), 'REQUEST_VARIABLE_MISSING');
  });

  it('may have files, which are not parameters', async () => {
    const data = formData({ name: 'x' });
    data.append('count', new File([new Uint8Array([0xff, 0xfe, 0])], 'seven.bin'));
    expect((await ask(await multipart(data))).body.input).toEqual({ name: 'x' });
  });

  it('are refused if a name occurs twice', async () => {
    const data = formData({ name: 'x' });
    data.append('name', 'y');
    expectRefused(await ask(await multipart(data)));
  });

  it('are refused if they are malformed', async () => {
    const { body, headers } = await multipart(formData({ name: 'x' }));
    const bytes = body as Uint8Array;
    const type = headers?.['content-type'] ?? '';
    for (const raw of [
      { body: bytes.slice(0, -12), headers: { 'content-type': type } },
      { body: bytes, headers: { 'content-type': 'multipart/form-data' } },
      { body: bytes, headers: { 'content-type': 'multipart/form-data; boundary=other' } },
      { body: 'name=x', headers: { 'content-type': type } },
    ]) {
      expectRefused(await ask(raw));
    }
  });

  it('are refused if their text is invalid UTF-8 or has a NUL', async () => {
    const { body, headers } = await multipart(formData({ name: 'X' }));
    const spoiled = (byte: number): Raw => {
      const bytes = Buffer.from(body as Uint8Array);
      bytes[bytes.indexOf('\r\n\r\nX\r\n') + 4] = byte;
      return { body: bytes, ...(headers && { headers }) };
    };
    expect((await ask(spoiled(0x59))).body.input).toEqual({ name: 'Y' });
    expectRefused(await ask(spoiled(0xff)));
    expectRefused(await ask(spoiled(0)));
  });
});
