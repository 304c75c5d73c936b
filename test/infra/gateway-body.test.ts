import { describe, expect, test } from 'vitest';
import { gatewayBody } from '../../infra/gateway-body.ts';
import type { Endpoint, Method } from '../../shared/endpoints/endpoint.ts';
import { pathId, text } from '../../shared/endpoints/parameter.ts';
import { endpoints } from './fixtures/declarations.ts';

const [example = expect.fail('no fixture')] = endpoints;

/** The example endpoint at another route. */
const at = (id: string, method: Method, path: string): Endpoint => ({
  ...example,
  id,
  method,
  path,
  gatewayPath: path,
});

const bodyOf = (...routes: Endpoint[]) =>
  gatewayBody('Test', routes, ({ id }) => ({ uri: `call:${id}`, credentials: 'the gateway' }));

describe("the gateway's own replies", () => {
  /** The headers of every reply, as the gateway has them under this name. */
  const inHeaders = (place: string) => ({
    [`${place}.X-Content-Type-Options`]: "'nosniff'",
    [`${place}.Access-Control-Allow-Origin`]: "'*'",
  });

  test('have nosniff, and can be read by pages of all origins', () => {
    const document = bodyOf(at('users.get', 'GET', '/users'), at('users.create', 'POST', '/users/{user_id}'));
    const errors = Object.entries(document['x-amazon-apigateway-gateway-responses']);
    expect(errors.length).toBeGreaterThan(5);
    for (const [name, { responseParameters }] of errors) {
      expect(responseParameters, name).toMatchObject(inHeaders('gatewayresponse.header'));
    }
    const mocks = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap((method) => {
        const integration = method['x-amazon-apigateway-integration'];
        return 'responses' in integration ? [[method, integration] as const] : [];
      }),
    );
    expect(mocks.length).toBeGreaterThan(2);
    for (const [method, { responses }] of mocks) {
      for (const reply of Object.values(responses)) {
        expect(reply.responseParameters).toMatchObject(inHeaders('method.response.header'));
        expect(method).toMatchObject({
          responses: { [reply.statusCode]: { headers: { 'X-Content-Type-Options': expect.anything() } } },
        });
      }
    }
  });
});

describe('the routes', () => {
  test('call the function of their endpoint with the unchanged request', () => {
    const { paths } = bodyOf(
      at('messages.send', 'POST', '/api/v1/messages'),
      at('messages.list', 'GET', '/api/v1/messages'),
    );
    expect(paths['/api/v1/messages']).toMatchObject({
      post: {
        operationId: 'messages.send',
        'x-amazon-apigateway-integration': {
          type: 'aws_proxy',
          httpMethod: 'POST',
          uri: 'call:messages.send',
          credentials: 'the gateway',
        },
      },
      get: { operationId: 'messages.list', 'x-amazon-apigateway-integration': { uri: 'call:messages.list' } },
    });
  });

  test('declare the variables of their path only if the gateway uses them', () => {
    const { paths } = bodyOf(at('topics.rename', 'PATCH', '/users/{user_id}/topics/{topic}'));
    const { patch, options, ...others } = paths['/users/{user_id}/topics/{topic}'] ?? expect.fail();
    expect(others).toMatchObject({
      'x-amazon-apigateway-any-method': {
        parameters: [
          { name: 'user_id', in: 'path', required: true },
          { name: 'topic', in: 'path', required: true },
        ],
      },
    });
    expect(patch).not.toHaveProperty('parameters');
    expect(options).not.toHaveProperty('parameters');
  });

  test('answer HEAD by the same function as GET', () => {
    const { paths } = bodyOf(at('users.get', 'GET', '/users'), at('users.create', 'POST', '/users'));
    const { get, head, post } = paths['/users'] ?? expect.fail();
    const { operationId, ...rest } = get ?? expect.fail();
    expect(operationId).toBe('users.get');
    expect(head).toEqual(rest);
    expect(post?.operationId).toBe('users.create');
    expect(bodyOf(at('users.create', 'POST', '/users')).paths['/users']).not.toHaveProperty('head');
  });

  test('may not have two names for the variable at one level, which the gateway cannot distinguish', () => {
    expect(() =>
      bodyOf(at('users.get', 'GET', '/users/{user_id}'), at('users.find', 'PATCH', '/users/{email}/status')),
    ).toThrow('Two names for the variable below /users: {user_id} and {email}.');
  });

  test('treat all types as binary, as compressed replies need it', () => {
    expect(bodyOf()['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
  });

  test('may have a literal beside a variable, and one name at different levels', () => {
    const body = bodyOf(
      at('users.getOwn', 'GET', '/users/me'),
      at('users.get', 'GET', '/users/{id}'),
      at('groups.get', 'GET', '/groups/{id}'),
    );
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/users/me', '/users/{id}', '/groups/{id}']),
    );
  });

  test('may not share a method and a path', () => {
    expect(() => bodyOf(at('a.one', 'GET', '/same'), at('a.two', 'GET', '/same'))).toThrow(
      'Two endpoints answer GET /same: a.one and a.two.',
    );
  });
});

describe('the gateway answers without a function', () => {
  const { paths, ...body } = bodyOf(at('a.read', 'GET', '/thing/{id}'), at('a.write', 'POST', '/thing/{id}'));
  const thing = paths['/thing/{id}'];

  test('with 405 for a method that the path does not have, naming those that it has', () => {
    const { responses, 'x-amazon-apigateway-integration': integration } =
      thing?.['x-amazon-apigateway-any-method'] ?? expect.fail();
    const { statusCode, responseParameters, responseTemplates } = integration.responses.default;
    expect(Object.keys(responses)).toEqual(['405']);
    expect(statusCode).toBe('405');
    expect(responseParameters).toMatchObject({ 'method.response.header.Allow': "'GET, HEAD, POST'" });
    expect(JSON.parse(responseTemplates?.['application/json'] ?? '')).toEqual({
      result: 'error',
      msg: 'This method is not allowed here.',
      code: 'METHOD_NOT_ALLOWED',
      allowed_methods: ['GET', 'HEAD', 'POST'],
    });
  });

  test('with 204 for OPTIONS, with the same methods and no body', () => {
    const { default: reply } = thing?.options?.['x-amazon-apigateway-integration'].responses ?? expect.fail();
    expect(reply).not.toHaveProperty('responseTemplates');
    expect(reply).toMatchObject({
      statusCode: '204',
      contentHandling: 'CONVERT_TO_TEXT',
      responseParameters: { 'method.response.header.Allow': "'GET, HEAD, POST'" },
    });
  });

  test('with CORS headers to the preflight of a page of another origin', () => {
    const { default: reply } = thing?.options?.['x-amazon-apigateway-integration'].responses ?? expect.fail();
    expect(reply.responseParameters).toMatchObject({
      'method.response.header.Access-Control-Allow-Methods': "'GET, HEAD, POST'",
      'method.response.header.Access-Control-Allow-Headers': "'Authorization, Content-Type'",
    });
  });

  test('with 405 for every content type that clients send, 204 for OPTIONS without one, and 415 for others', () => {
    const clients = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
    for (const [method, types] of [
      [thing?.options, ['application/json']],
      [thing?.['x-amazon-apigateway-any-method'], clients],
    ] as const) {
      const integration = method?.['x-amazon-apigateway-integration'] ?? expect.fail();
      const { requestTemplates, passthroughBehavior, contentHandling } = integration;
      expect(Object.keys(requestTemplates)).toEqual(expect.arrayContaining([...types]));
      expect(passthroughBehavior).toBe('never');
      // Without this a template cannot be applied to a binary media type, which all are: neither of a request nor of a reply.
      expect(contentHandling).toBe('CONVERT_TO_TEXT');
      expect(integration.responses.default.contentHandling).toBe('CONVERT_TO_TEXT');
      for (const template of Object.values(requestTemplates)) {
        expect(String(JSON.parse(template).statusCode)).toBe(integration.responses.default.statusCode);
      }
    }
  });

  test('with a redirect from the root to the account page, also behind the name of a stage', () => {
    const method = paths['/']?.['x-amazon-apigateway-any-method'] ?? expect.fail();
    const { statusCode, responseParameters } = method['x-amazon-apigateway-integration'].responses.default;
    expect(statusCode).toBe('302');
    expect(responseParameters['method.response.header.Location']).toBe("'account'");
  });

  test('with 404 for every other path, whatever the method', () => {
    const integration =
      paths['/{proxy+}']?.['x-amazon-apigateway-any-method']['x-amazon-apigateway-integration'] ??
      expect.fail();
    const { statusCode, responseTemplates } = integration.responses.default;
    expect(statusCode).toBe('404');
    expect(JSON.parse(responseTemplates?.['application/json'] ?? '')).toMatchObject({ result: 'error' });
  });

  test('with a page for unknown methods and paths of pages', () => {
    const page = { isPage: true } as const;
    const { paths } = bodyOf(
      { ...at('pages.show', 'GET', '/login'), ...page },
      { ...at('pages.send', 'POST', '/login'), ...page },
      { ...at('pages.join', 'GET', '/invite/{token}'), ...page },
      at('a.read', 'GET', '/api/v1/thing'),
    );
    const replyAt = (path: string) =>
      paths[path]?.['x-amazon-apigateway-any-method']['x-amazon-apigateway-integration'].responses.default ??
      expect.fail(path);
    for (const [path, status] of [
      ['/login', '405'],
      ['/login/{proxy+}', '404'],
      ['/invite', '404'],
      ['/invite/{token}', '405'],
      ['/invite/{token}/{proxy+}', '404'],
    ] as const) {
      const { statusCode, responseTemplates, responseParameters } = replyAt(path);
      const [[type, text] = expect.fail()] = Object.entries(responseTemplates ?? {});
      expect([path, statusCode, type]).toEqual([path, status, 'text/html']);
      expect(text).toMatch(
        /<meta http-equiv="Content-Security-Policy" content="default-src &apos;none&apos;;/,
      );
      // Else the gateway would take a part of it for a directive or a variable.
      expect(text).not.toMatch(/[#$]/);
      // No value of a header may have quotes within its own.
      for (const value of Object.values(responseParameters)) expect(value).toMatch(/^'[^']*'$/);
    }
    expect(replyAt('/login').responseParameters).toMatchObject({
      'method.response.header.Allow': "'GET, HEAD, POST'",
    });
    expect(replyAt('/api/v1/thing').responseTemplates).toHaveProperty(['application/json']);
    expect(paths).not.toHaveProperty(['/api/{proxy+}']);
  });

  test('with 404 for anything but an ID on a path with an ID, as for an unknown path', () => {
    const ids = { thing: pathId('A thing.'), part: pathId('A part.') };
    const { paths } = bodyOf({ ...at('a.read', 'GET', '/things/{thing}/{part}'), parameters: ids });
    const here = paths['/things/{thing}/{part}'] ?? expect.fail();
    const nowhere = paths['/{proxy+}']?.['x-amazon-apigateway-any-method'] ?? expect.fail();
    const isOther = (name: string) => `$input.params('${name}').matches('.*[^0-9].*')`;
    const method = here['x-amazon-apigateway-any-method'];
    const { requestTemplates, responses } = method['x-amazon-apigateway-integration'];
    expect(new Set(Object.values(requestTemplates))).toEqual(
      new Set([
        `#if(${isOther('thing')} || ${isOther('part')}){"statusCode":404}#else{"statusCode":405}#end`,
      ]),
    );
    expect(responses[404]).toEqual(nowhere['x-amazon-apigateway-integration'].responses.default);
    expect(Object.keys(method.responses)).toEqual(expect.arrayContaining(['404', '405']));
  });

  test('with 405 on a path on which one endpoint also takes other names', () => {
    const { paths } = bodyOf(
      { ...at('a.read', 'GET', '/thing/{id}'), parameters: { id: text('An ID or a name.') } },
      { ...at('a.remove', 'DELETE', '/thing/{id}'), parameters: { id: pathId('An ID.') } },
    );
    const method = paths['/thing/{id}']?.['x-amazon-apigateway-any-method'] ?? expect.fail();
    expect(Object.keys(method.responses)).toEqual(['405']);
  });

  const responses = body['x-amazon-apigateway-gateway-responses'];
  const envelopeOf = (type: string) =>
    JSON.parse(responses[type]?.responseTemplates['application/json'] ?? expect.fail(`no ${type}`));

  test('in the envelope, with fixed texts that contain nothing from the request', () => {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX']));
    for (const [type, { responseTemplates }] of Object.entries(responses)) {
      expect(Object.keys(responseTemplates)).toEqual(['application/json']);
      expect(responseTemplates['application/json']).not.toContain('$');
      expect(envelopeOf(type)).toMatchObject({
        result: 'error',
        msg: expect.stringMatching(/^[A-Z].*\.$/),
        code: expect.stringMatching(/^[A-Z_]+$/),
      });
    }
  });

  test.each([
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'BAD_REQUEST'],
    ['INVALID_SIGNATURE', 404, 'BAD_REQUEST'],
    ['ACCESS_DENIED', 404, 'BAD_REQUEST'],
    ['BAD_REQUEST_BODY', 400, 'BAD_REQUEST'],
    ['REQUEST_TOO_LARGE', 413, 'BAD_REQUEST'],
    ['UNSUPPORTED_MEDIA_TYPE', 415, 'BAD_REQUEST'],
    ['THROTTLED', 429, 'RATE_LIMIT_HIT'],
    ['QUOTA_EXCEEDED', 429, 'RATE_LIMIT_HIT'],
    ['INTEGRATION_FAILURE', 502, 'INTERNAL_SERVER_ERROR'],
    ['INTEGRATION_TIMEOUT', 504, 'INTERNAL_SERVER_ERROR'],
  ])('%s with %i %s', (type, status, code) => {
    expect(responses[type]?.statusCode).toBe(status);
    expect(envelopeOf(type).code).toBe(code);
  });

  test('with errors that reveal nothing about a fault', () => {
    expect(responses.DEFAULT_5XX?.statusCode).toBeUndefined();
    expect(envelopeOf('DEFAULT_5XX')).toEqual({
      result: 'error',
      msg: 'Something went wrong on the server.',
      code: 'INTERNAL_SERVER_ERROR',
    });
  });

  test('with the time to retry for a throttled caller, in the body and in the header', () => {
    for (const type of ['THROTTLED', 'QUOTA_EXCEEDED']) {
      expect(envelopeOf(type)['retry-after']).toBe(1);
      expect(responses[type]?.responseParameters).toMatchObject({
        'gatewayresponse.header.Retry-After': "'1'",
      });
    }
  });
});
