import type { Endpoint, Method } from '../shared/endpoints/endpoint.ts';
import {
  gatewayResponses,
  type MockMethod,
  options,
  toAccount,
  unknownPage,
  unknownRoute,
  wrongMethod,
  wrongPageMethod,
} from './gateway-replies.ts';

interface PathParameter {
  readonly name: string;
  readonly in: 'path';
  readonly required: true;
  readonly schema: { readonly type: 'string' };
}

/** How the gateway calls a function: its address, and the ARN of the role. */
export interface Target {
  readonly uri: string;
  readonly credentials: string;
}

/**
 * A method that passes the request to an endpoint's function and returns its reply, both unchanged. As in the templates of
 * SAM, it says nothing of parameters and replies, which the gateway does not look at: a template has a million bytes.
 */
interface FunctionMethod {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, never>>;
  readonly 'x-amazon-apigateway-integration': Target & {
    readonly type: 'aws_proxy';
    readonly httpMethod: 'POST';
  };
}

/** The methods of one path. */
type PathItem = { readonly [M in Lowercase<Method | 'HEAD'>]?: FunctionMethod } & {
  readonly options?: MockMethod;
  readonly 'x-amazon-apigateway-any-method': MockMethod & { readonly parameters?: readonly PathParameter[] };
};

/** The names in braces of a path, in order. */
const variablesOf = (path: string): string[] =>
  [...path.matchAll(/\{([^}+]+)\+?\}/g)].map((match) => match[1] ?? '');

/** The variables of a path, as a method declares them that looks at them. */
const parametersOf = (path: string): { readonly parameters?: readonly PathParameter[] } => {
  const parameters = variablesOf(path).map(
    (name): PathParameter => ({ name, in: 'path', required: true, schema: { type: 'string' } }),
  );
  return parameters.length > 0 ? { parameters } : {};
};

/**
 * Refuses routes that the gateway cannot distinguish: two endpoints on one method and path, or two names for
 * the variable at one level (`/users/{user_id}` and `/users/{email}`), since the gateway keeps only one of them.
 */
const checkRoutes = (endpoints: readonly Endpoint[]): void => {
  const owners = new Map<string, string>();
  const claim = (place: string, owner: string, complaint: string) => {
    const other = owners.get(place);
    if (other !== undefined && other !== owner) throw new Error(`${complaint}: ${other} and ${owner}.`);
    owners.set(place, owner);
  };
  for (const { id, method, gatewayPath: path } of endpoints) {
    claim(`${method} ${path}`, id, `Two endpoints answer ${method} ${path}`);
    const segments = path.split('/');
    for (const [level, segment] of segments.entries()) {
      if (!segment.startsWith('{')) continue;
      const parent = segments.slice(0, level).join('/');
      claim(parent, segment, `Two names for the variable below ${parent}`);
    }
  }
};

/** `HEAD` is answered wherever `GET` is, by the same function; the gateway leaves the body out (companion facts 6.2). */
export const methodsOf = ({ method }: Endpoint): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** The variables of a path that take only digits, for each of its endpoints. */
const idsOf = (path: string, endpoints: readonly Endpoint[]): string[] =>
  variablesOf(path).filter((name) =>
    endpoints.every(({ parameters }) => parameters[name]?.wire === 'digits'),
  );

const functionMethod = (endpoint: Endpoint, method: string, target: Target): FunctionMethod => ({
  ...(method === endpoint.method && { operationId: endpoint.id }),
  responses: {},
  'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', ...target },
});

const pathItem = (
  path: string,
  endpoints: readonly Endpoint[],
  targetOf: (endpoint: Endpoint) => Target,
): PathItem => {
  const allowed = endpoints.flatMap(methodsOf).sort();
  const ids = idsOf(path, endpoints);
  return {
    ...Object.fromEntries(
      endpoints.flatMap((it) =>
        methodsOf(it).map((method) => [method.toLowerCase(), functionMethod(it, method, targetOf(it))]),
      ),
    ),
    options: options(allowed),
    'x-amazon-apigateway-any-method': {
      ...parametersOf(path),
      ...(endpoints.every(({ isPage }) => isPage) ? wrongPageMethod(allowed) : wrongMethod(allowed, ids)),
    },
  };
};

/**
 * The paths below the first parts of pages' paths (`/login`, `/accounts`) that no endpoint has. What does not exist there
 * is answered with a page. A level has one variable, so where it has one (`/invite/{token}`), this begins below it.
 */
const otherPagePaths = (endpoints: readonly Endpoint[]): string[] => {
  const pages = endpoints.filter(({ isPage }) => isPage).map(({ path }) => path);
  const firsts = new Set(pages.map((path) => `/${path.split('/')[1]}`));
  return [...firsts].flatMap((first) => {
    const variable = pages.find((path) => path.startsWith(`${first}/{`))?.split('/')[2];
    const below = variable === undefined ? `${first}/{proxy+}` : `${first}/${variable}/{proxy+}`;
    return pages.includes(first) ? [below] : [first, below];
  });
};

/**
 * The whole gateway as one OpenAPI document: a route for each endpoint, 405 and `OPTIONS` for each path, 404
 * for all other paths (as a page where pages are), and the envelope for every error that the gateway meets by itself.
 *
 * `targetOf` says how the gateway calls an endpoint's function. Throws if two routes cannot be distinguished.
 */
export const gatewayBody = (
  name: string,
  endpoints: readonly Endpoint[],
  targetOf: (endpoint: Endpoint) => Target,
) => {
  checkRoutes(endpoints);
  const byPath = Map.groupBy(endpoints, ({ gatewayPath }) => gatewayPath);
  const paths: Readonly<Record<string, PathItem>> = {
    '/': { 'x-amazon-apigateway-any-method': toAccount() },
    // No other path exists. Without this the gateway would refuse other paths for a missing AWS signature.
    '/{proxy+}': {
      'x-amazon-apigateway-any-method': { ...parametersOf('/{proxy+}'), ...unknownRoute() },
    },
    ...Object.fromEntries(
      otherPagePaths(endpoints).map((path) => [
        path,
        {
          'x-amazon-apigateway-any-method': {
            ...parametersOf(path),
            ...unknownPage(),
          },
        },
      ]),
    ),
    ...Object.fromEntries([...byPath].map(([path, here]) => [path, pathItem(path, here, targetOf)])),
  };
  return {
    openapi: '3.0.1',
    info: { title: name, version: '1' },
    paths,
    // Uploads are bytes, and so are compressed replies. The gateway decides by the first type that a client accepts,
    // which is usually any type, so that must be the one here. Functions distinguish text from bytes themselves, and do
    // not send bytes that could be text to a client without an `Accept` header (`shared/serve/reply.ts`).
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses,
  };
};
