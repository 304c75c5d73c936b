/* global SwaggerUIBundle */
// Shows the API's own description of itself. Nothing here is kept, and nobody else is asked for anything.

/** The renderer has dark colors under this class, and leaves it to the page when to show them. */
const darkness = matchMedia('(prefers-color-scheme: dark)');
const followDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
followDarkness();
darkness.addEventListener('change', followDarkness);

const JSON_TEXT = 'application/json';

/** JSON travels as text: so it is typed in here, and so it is sent. */
const jsonText = ({ $ref, description = '', deprecated = false }) => ({
  type: 'string',
  format: 'json',
  description: $ref ? `${description} Schema: \`${$ref.split('/').at(-1)}\`.` : description,
  deprecated,
});

const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A parameter of an address as a field of text, where it is JSON. */
function field(parameter) {
  const { content, ...rest } = parameter;
  if (content === undefined) return parameter;
  const { example } = content[JSON_TEXT];
  return { ...rest, schema: jsonText({}), ...(example !== undefined && { example: shown(example) }) };
}

/** A form whose fields hold what the example has, and those that it has not, nothing. */
function form({ schema, encoding = {}, example = {} }) {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const value = example[name];
    const examples = [value === undefined ? '' : encoding[name] ? JSON.stringify(value) : value];
    // A file is chosen, not typed.
    if (property.contentMediaType) return [name, property];
    return [name, { ...(encoding[name] ? jsonText(property) : property), examples }];
  });
  return { schema: { ...schema, properties: Object.fromEntries(properties) } };
}

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** The document with what one types into the page as the text that is sent. */
const typable = (document) => ({
  ...document,
  paths: mapped(document.paths, (operations) =>
    mapped(operations, ({ parameters, requestBody, ...operation }) => ({
      ...operation,
      parameters: parameters.map(field),
      ...(requestBody && { requestBody: { ...requestBody, content: mapped(requestBody.content, form) } }),
    })),
  ),
});

/** The renderer takes text that looks like JSON for what it stands for; in quotes it stays the text that it is. */
const verbatim = (send) => (request) => {
  const { requestBody } = request;
  if (typeof requestBody !== 'object' || requestBody === null) return send(request);
  const quoted = mapped(requestBody, (value) => (typeof value === 'string' ? JSON.stringify(value) : value));
  return send({ ...request, requestBody: quoted });
};

/** An empty field is sent once its box is ticked, and not from the start, as the renderer has it. */
const unticked =
  (set, { oas3Selectors }) =>
  ({ pathMethod, name, value }) => {
    const isKnown = oas3Selectors.requestBodyInclusionSetting(...pathMethod).has(name);
    return set({ pathMethod, name, value: isKnown && value });
  };

const typing = {
  statePlugins: {
    spec: {
      wrapActions: { updateJsonSpec: (update) => (spec) => update(spec.paths ? typable(spec) : spec) },
    },
    oas3: { wrapActions: { setRequestBodyInclusion: unticked } },
  },
  afterLoad() {
    for (const name of ['buildRequest', 'execute']) this.fn[name] = verbatim(this.fn[name]);
  },
};

SwaggerUIBundle({
  // Beside this script, at whatever path the service stands.
  url: new URL('../v1/openapi.json', document.currentScript.src).href,
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [typing],
  deepLinking: true,
  filter: true,
  // A list of the areas, each opened by a click: all operations at once are more than one looks through.
  docExpansion: 'none',
  // The schemas at the end are there to be looked up: closed.
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // No badge of somebody else's validator, and no key that outlives the page.
  validatorUrl: null,
  persistAuthorization: false,
  // The browser adds no credentials of its own to those of the page, and asks for none by itself after a 401.
  requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' }),
});
