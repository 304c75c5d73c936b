import { execFileSync } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { handler as getOpenApi } from '../../functions/server/getOpenApi.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { openApiDocument } from '../../shared/openapi/document.ts';
import { errorExamples } from '../../shared/openapi/errors.ts';
import { exampleOf } from '../../shared/openapi/examples.ts';
import { newRealm } from '../support/realm.ts';
import { openApiRules } from './rules.ts';

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: object;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

const document = openApiDocument();
const text = JSON.stringify(document);
const { paths } = document as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Checks values by schemas of the document, whose references lead into it. */
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ ...document, $id: 'openapi' });

function complaints(schema: object, value: unknown): unknown[] {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'));
  const validate = ajv.compile(absolute);
  return validate(value) ? [] : (validate.errors ?? []);
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', () => {
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(openApiRules);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('has every endpoint once, with all its parameters', () => {
    expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(
      endpoints.map(({ id }) => id).sort(),
    );
    for (const { path, method, operation } of operations) {
      const endpoint = endpoints.find(({ id }) => id === operation.operationId);
      expect([endpoint?.path, endpoint?.method.toLowerCase()]).toEqual([path, method]);
      const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema as { properties?: object };
      const described = [
        ...operation.parameters.map(({ name }) => name),
        ...Object.keys(body?.properties ?? {}),
      ];
      const declared = Object.entries(endpoint?.parameters ?? {}).flatMap(([name, { alias }]) =>
        [name, alias ?? []].flat(),
      );
      if (endpoint?.file !== undefined) declared.push('file');
      expect(described.sort(), operation.operationId).toEqual(declared.sort());
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`).sort()).toEqual((path.match(/\{\w+\}/g) ?? []).sort());
    }
  });

  test('refers only to existing components, and has no unused ones', () => {
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name));
    const { schemas, responses, examples } = document.components as Record<string, object>;
    const there = [
      ...Object.keys(schemas ?? {}).map((name) => `schemas/${name}`),
      ...Object.keys(responses ?? {}).map((name) => `responses/${name}`),
      ...Object.keys(examples ?? {}).map((name) => `examples/${name}`),
    ];
    expect([...referred].sort()).toEqual(there.sort());
  });

  test.each(operations.map(({ operation }) => [operation.operationId, operation] as const))(
    'has an example of %s that fits the schemas',
    (id, { parameters, requestBody, responses }) => {
      const example = exampleOf(id);
      for (const { schema, example: value } of parameters) {
        if (schema && value !== undefined) expect(complaints(schema, value)).toEqual([]);
      }
      const bodies = Object.values(requestBody?.content ?? {});
      const replies = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
      for (const { schema, example: value, examples } of [...bodies, ...replies]) {
        if (schema)
          expect(complaints(schema, value ?? {})).toEqual(value === undefined ? expect.anything() : []);
        for (const [code, { $ref }] of Object.entries(examples ?? {})) {
          expect(errorExamples[$ref.replace('#/components/examples/', '')]?.value, id).toMatchObject({
            code,
          });
        }
      }
      if (example?.reply !== undefined) {
        expect(responses[200]?.content?.['application/json']?.example).toEqual(example.reply);
      }
    },
  );
});

describe('the text of the document', () => {
  test('describes the deprecated name of a parameter as its older name', () => {
    const send = operations.find(({ operation }) => operation.operationId === 'messages.send');
    const { schema } = Object.values(send?.operation.requestBody?.content ?? {})[0] ?? expect.fail();
    expect(schema).toMatchObject({
      properties: { subject: { deprecated: true, description: 'The older name of `topic`.' } },
    });
  });

  test('shows every error by an example that fits its schema', () => {
    const shown = Object.values(errorExamples).map(({ value }) => value as { code: string });
    for (const value of shown) {
      expect(complaints({ $ref: `#/components/schemas/Error.${value.code}` }, value)).toEqual([]);
    }
    const refusals = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).filter(([status]) => Number(status) >= 400),
    );
    for (const [, { content }] of refusals) {
      for (const { schema, examples } of Object.values(content ?? {})) {
        const codes = [...JSON.stringify(schema).matchAll(/Error\.(\w+)/g)].map(([, code]) => code);
        expect(Object.keys(examples ?? {})).toEqual(codes);
      }
    }
  });

  test('has a sentence for every area, and for no other', () => {
    const there = new Set(endpoints.map(({ id }) => id.split('.')[0]));
    expect((document.tags as { name: string }[]).map(({ name }) => name).sort()).toEqual([...there].sort());
  });

  test('has one short line for each endpoint, and says who may call it', () => {
    const lines = operations.map(({ operation }) => operation.summary);
    expect(lines.filter((line) => !/^[A-Z][^.;:]{10,99}$/.test(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
    for (const { operation } of operations) expect(operation.description).toContain('**Who may call:** ');
  });

  test('shows the examples as shell commands that send exactly these requests', () => {
    const commands = operations.flatMap(({ path, method, operation }) => {
      const [, command] = /^```\n(curl [\s\S]+)\n```$/m.exec(operation.description) ?? [];
      return command === undefined ? [] : [{ path, method, id: operation.operationId, command }];
    });
    expect(commands.map(({ id }) => id).sort()).toEqual(
      endpoints
        .map(({ id }) => id)
        .filter((id) => exampleOf(id))
        .sort(),
    );
    const script = `curl() { printf '%s\\0' "$@" .; }\n${commands.map(({ command }) => command).join('\n')}`;
    const words = execFileSync('/bin/sh', ['-ec', script]).toString().split('\0');
    for (const { path, method, id, command } of commands) {
      const given = words.splice(0, words.indexOf('.') + 1).slice(0, -1);
      const { wire, url, verb, credentials } = understood(given);
      const endpoint = endpoints.find((one) => one.id === id) ?? expect.fail();
      const inPath = new RegExp(path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')).exec(url)?.groups ?? {};
      for (const [name, value] of Object.entries(inPath)) wire.set(name, decodeURIComponent(value));
      const { file, ...decoded } = Object.fromEntries(
        [...wire].map(([name, value]) => {
          const isJson = endpoint.parameters[name]?.wire === 'json';
          return [name, isJson ? JSON.parse(value) : value];
        }),
      );
      const request = Object.entries(exampleOf(id)?.request ?? {}).map(([name, value]) => [
        name,
        endpoint.parameters[name]?.wire === 'json' ? value : String(value),
      ]);
      expect(decoded, command).toEqual(Object.fromEntries(request));
      expect(verb, command).toBe(method.toUpperCase());
      expect(credentials, command).toBe(endpoint.access === 'anyone' ? undefined : 'EMAIL:API_KEY');
      expect(file, command).toBe(endpoint.file === undefined ? undefined : '@FILE');
    }
    expect(words).toEqual(['']);
  });
});

/** What curl would do when it is given these words. */
function understood(words: readonly string[]) {
  const wire = new Map<string, string>();
  let [url, credentials, explicit, isGet]: [string, string?, string?, boolean?] = [''];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (word === '-G') isGet = true;
    else if (word === '-X') explicit = words[++i];
    else if (word === '-u') credentials = words[++i];
    else if (['-d', '-F', '--data-urlencode', '--form-string'].includes(word)) {
      const pair = words[++i] ?? '';
      const at = pair.indexOf('=');
      wire.set(pair.slice(0, at), pair.slice(at + 1));
    } else url = word;
  }
  return { wire, url, credentials, verb: explicit ?? (isGet || wire.size === 0 ? 'GET' : 'POST') };
}

describe('GET /api/v1/openapi.json', () => {
  test('is public, and compressed for clients that accept that', async () => {
    const realm = await newRealm();
    const plain = await realm.call(getOpenApi, undefined);
    expect(plain.headers).toMatchObject({ 'Content-Type': 'application/json' });
    expect(JSON.parse(plain.body)).toEqual(document);
    const packed = await realm.call(
      getOpenApi,
      undefined,
      {},
      { headers: { accept: '*/*', 'accept-encoding': 'gzip' } },
    );
    expect(packed.headers).toMatchObject({ 'Content-Encoding': 'gzip' });
    expect(packed.body.length).toBeLessThan(text.length / 5);
  });
});
