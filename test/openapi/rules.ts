/**
 * The rules of OpenAPI 3.1 for the objects that our document has, as a JSON Schema: which fields each object may and
 * must have (https://spec.openapis.org/oas/v3.1.1.html, section 4.8). Schemas themselves are checked by compiling them.
 */

const object = (required: readonly string[], properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});
const mapOf = (schema: object, names = '.') => ({
  type: 'object',
  propertyNames: { pattern: names },
  additionalProperties: schema,
});
const listOf = (items: object) => ({ type: 'array', items });
const definition = (name: string) => ({ $ref: `#/$defs/${name}` });

const text = { type: 'string', minLength: 1 };
const flag = { type: 'boolean' };
/** Names of components (4.8.7). */
const COMPONENT = '^[a-zA-Z0-9._-]+$';
/** One of both, never both (4.8.12). */
const schemaOrContent = { oneOf: [{ required: ['schema'] }, { required: ['content'] }] };

const operation = object(['operationId', 'responses'], {
  operationId: text,
  tags: listOf(text),
  summary: text,
  description: text,
  parameters: listOf(definition('parameter')),
  requestBody: definition('requestBody'),
  responses: { ...mapOf(definition('responseOrReference'), '^([1-5]\\d\\d|default)$'), minProperties: 1 },
  security: listOf(mapOf(listOf(text))),
  'x-source': text,
});

export const openApiRules = {
  ...object(['openapi', 'info', 'paths'], {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: object(['title', 'version'], {
      title: text,
      version: text,
      description: text,
      license: object(['name', 'identifier'], { name: text, identifier: text }),
    }),
    servers: listOf(object(['url'], { url: text })),
    security: listOf(mapOf(listOf(text))),
    tags: listOf(object(['name'], { name: text, description: text })),
    paths: mapOf(definition('pathItem'), '^/'),
    components: object([], {
      schemas: mapOf({ type: 'object' }, COMPONENT),
      responses: mapOf(definition('response'), COMPONENT),
      examples: mapOf(object(['value'], { value: {} }), COMPONENT),
      securitySchemes: mapOf(
        object(['type', 'scheme'], {
          type: { const: 'http' },
          scheme: { const: 'basic' },
          description: text,
        }),
        COMPONENT,
      ),
    }),
  }),
  $defs: {
    pathItem: object([], {
      get: operation,
      put: operation,
      post: operation,
      patch: operation,
      delete: operation,
    }),
    parameter: {
      ...object(['name', 'in'], {
        name: text,
        in: { enum: ['query', 'path'] },
        description: text,
        required: flag,
        deprecated: flag,
        schema: { type: 'object' },
        content: { ...definition('content'), maxProperties: 1 },
        example: {},
      }),
      ...schemaOrContent,
      // What stands in the path must (4.8.12.1).
      if: { properties: { in: { const: 'path' } } },
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
      then: { properties: { required: { const: true } }, required: ['required'] },
    },
    requestBody: object(['content'], { content: definition('content'), required: flag, description: text }),
    content: mapOf(
      object([], {
        schema: { type: 'object' },
        example: {},
        examples: mapOf(
          object(['$ref'], { $ref: { type: 'string', pattern: '^#/components/examples/' } }),
          COMPONENT,
        ),
        encoding: mapOf(object([], { contentType: text })),
      }),
      '^[a-z*]+/[a-z*.+-]+$',
    ),
    response: object(['description'], {
      description: text,
      headers: mapOf(object(['schema'], { schema: { type: 'object' } })),
      content: definition('content'),
    }),
    responseOrReference: {
      if: { required: ['$ref'] },
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
      then: object(['$ref'], { $ref: { type: 'string', pattern: '^#/components/responses/' } }),
      else: definition('response'),
    },
  },
} as const;
