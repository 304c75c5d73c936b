import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { handler as getOpenApi } from '../../functions/server/getOpenApi.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { openApiDocument } from '../../shared/openapi/document.ts';
import { exampleOf } from '../../shared/openapi/examples.ts';
import { newRealm } from '../realm.ts';
import { openApiRules } from './rules.ts';

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
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
  test('keeps the rules of OpenAPI 3.1', () => {
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(openApiRules);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('has every endpoint once, with all of its parameters', () => {
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

  test('refers only to what it has, and has nothing to which nobody refers', () => {
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name));
    const { schemas, responses } = document.components as Record<string, object>;
    const there = [
      ...Object.keys(schemas ?? {}).map((name) => `schemas/${name}`),
      ...Object.keys(responses ?? {}).map((name) => `responses/${name}`),
    ];
    expect([...referred].sort()).toEqual(there.sort());
  });

  test.each(operations.map(({ operation }) => [operation.operationId, operation] as const))(
    'describes %s by schemas that its example fits',
    (id, { parameters, requestBody, responses }) => {
      const example = exampleOf(id);
      for (const { schema, example: value } of parameters) {
        if (schema && value !== undefined) expect(complaints(schema, value)).toEqual([]);
      }
      const bodies = Object.values(requestBody?.content ?? {});
      const replies = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
      for (const { schema, example: value } of [...bodies, ...replies]) {
        if (schema)
          expect(complaints(schema, value ?? {})).toEqual(value === undefined ? expect.anything() : []);
      }
      if (example?.reply !== undefined) {
        expect(responses[200]?.content?.['application/json']?.example).toEqual(example.reply);
      }
    },
  );
});

describe('GET /api/v1/openapi.json', () => {
  test('serves it to anyone, compressed where a client takes it so', async () => {
    const realm = await newRealm();
    const plain = await realm.call(getOpenApi, undefined);
    expect(plain.headers).toMatchObject({ 'Content-Type': 'application/json' });
    expect(JSON.parse(plain.body)).toEqual(document);
    const packed = await realm.call(getOpenApi, undefined, {}, { headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers).toMatchObject({ 'Content-Encoding': 'gzip' });
    expect(packed.body.length).toBeLessThan(text.length / 5);
  });
});
