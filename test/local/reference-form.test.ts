import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { openApiDocument } from '../../shared/openapi/document.ts';
import { exampleOf } from '../../shared/openapi/examples.ts';

type Values = Readonly<Record<string, unknown>>;
type Act = (payload: Values) => unknown;

/** What the page hands to the renderer. */
interface Settings {
  readonly url: string;
  readonly validatorUrl: null;
  readonly persistAuthorization: boolean;
  readonly requestInterceptor: (request: Values) => Values;
  readonly plugins: readonly [
    {
      readonly statePlugins: {
        readonly spec: { readonly wrapActions: { readonly updateJsonSpec: (act: Act) => Act } };
        readonly oas3: {
          readonly wrapActions: { readonly setRequestBodyInclusion: (act: Act, system: object) => Act };
        };
      };
      readonly afterLoad: (this: { fn: Record<string, Act> }) => void;
    },
  ];
}

/** Runs the script of the page with something in the place of the renderer. */
function settingsOfPage(): Settings {
  const script = readFileSync(new URL('../../shared/openapi/reference/page.js', import.meta.url), 'utf8');
  let settings: Settings | undefined;
  const renderer = Object.assign((given: Settings) => (settings = given), { presets: { apis: 'apis' } });
  runInNewContext(script, {
    SwaggerUIBundle: renderer,
    URL,
    document: {
      currentScript: { src: 'http://chat.example.com/api/reference/page.js' },
      documentElement: { classList: { toggle: () => {} } },
    },
    matchMedia: () => ({ matches: false, addEventListener: () => {} }),
  });
  return settings ?? expect.fail('the page renders nothing');
}

const settings = settingsOfPage();
const [{ statePlugins, afterLoad }] = settings.plugins;

interface Field {
  readonly name: string;
  readonly example?: unknown;
}
interface Property {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Field[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { schema: { properties: Record<string, Property> } }>>;
  };
}
const { paths } = statePlugins.spec.wrapActions.updateJsonSpec((document) => document)(openApiDocument()) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
const propertiesOf = ({ requestBody }: Operation): [string, Property][] =>
  Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => Object.entries(schema.properties));

describe('the form to try an operation on the reference page', () => {
  test('is filled with the example, as text that the API accepts', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
      endpoints.map(({ id }) => id).sort(),
    );
    for (const operation of operations) {
      const id = operation.operationId;
      const { parameters, file } = endpoints.find((one) => one.id === id) ?? expect.fail(id);
      // A form with a file has no example: one chooses the file, and begins with the other fields empty.
      if (file !== undefined) continue;
      const typed = [
        ...operation.parameters.map(({ name, example }) => [name, example] as const),
        ...propertiesOf(operation).map(([name, { examples }]) => [name, examples?.[0]] as const),
      ].filter(([, value]) => value !== undefined && value !== '');
      const read = typed.map(([name, value]) => {
        const isJson = parameters[name]?.wire === 'json';
        return [name, isJson ? JSON.parse(String(value)) : value];
      });
      const said = Object.entries(exampleOf(id)?.request ?? {}).map(([name, value]) => [
        name,
        // The ID in a path is a number of its schema, and travels as its digits.
        parameters[name]?.wire === 'json' || parameters[name]?.wire === 'digits' ? value : String(value),
      ]);
      expect(Object.fromEntries(read), id).toEqual(Object.fromEntries(said));
    }
  });

  test('has text fields for JSON, and a file field for a file', () => {
    const fieldsOf = (id: string) =>
      Object.fromEntries(propertiesOf(operations.find((one) => one.operationId === id) ?? expect.fail()));
    expect(fieldsOf('subscriptions.add').subscriptions).toMatchObject({ type: 'string', format: 'json' });
    expect(fieldsOf('channels.update').can_send_message_group?.description).toContain('`GroupSettingChange`');
    expect(fieldsOf('emoji.add').file).toMatchObject({ contentMediaType: 'application/octet-stream' });
  });

  test('sends text unchanged, even if it looks like JSON', () => {
    const sent: Values[] = [];
    const fn: Record<string, Act> = {
      buildRequest: (request) => sent.push(request),
      execute: (request) => sent.push(request),
    };
    afterLoad.call({ fn });
    const file = new File(['x'], 'x.png');
    const fields = { to: '["a@example.com"]', content: '7', file };
    fn.buildRequest?.({ method: 'post', requestBody: fields });
    fn.execute?.({ method: 'get' });
    const [{ requestBody } = {}, second] = sent;
    // The renderer decodes each field that it can.
    const { to, content } = requestBody as Readonly<Record<string, string>>;
    expect([to, content].map((value) => JSON.parse(value ?? ''))).toEqual(['["a@example.com"]', '7']);
    expect((requestBody as typeof fields).file).toBe(file);
    expect(second).toEqual({ method: 'get' });
  });

  test('sends no empty fields unless requested', () => {
    const known = new Set<string>();
    const system = { oas3Selectors: { requestBodyInclusionSetting: () => known } };
    const set = statePlugins.oas3.wrapActions.setRequestBodyInclusion((payload) => {
      known.add(String(payload.name));
      return payload.value;
    }, system);
    const box = { pathMethod: ['/api/v1/messages', 'post'], name: 'topic', value: true };
    expect([set(box), set(box), set({ ...box, value: false })]).toEqual([false, true, false]);
  });

  test('sends requests only to this service, with the credentials of the page, which it does not store', () => {
    expect(settings.url).toBe('http://chat.example.com/api/v1/openapi.json');
    expect([settings.validatorUrl, settings.persistAuthorization]).toEqual([null, false]);
    expect(settings.requestInterceptor({ url: '/' })).toEqual({ url: '/', credentials: 'omit' });
  });
});
