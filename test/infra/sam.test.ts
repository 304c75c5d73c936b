import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Bundles } from '../../infra/build.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { listenersFor } from '../../shared/endpoints/listener.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import type { FunctionProperties, Template, Value } from '../support/template.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

/*
 * `sam local start-api -t` serves the template. What is said here of sam is from its sources, version 1.170.0, whose
 * own providers find the same routes and functions in the template.
 */

const folder = await temporaryFolder();
const assembly = join(folder, 'cdk.out');

/** A bundle for each function with nothing in it but its name, so that none can pass for another. */
async function namedBundles(): Promise<Bundles> {
  const bundles = [...endpoints, ...workers, ...listenersFor(endpoints)].map(async ({ id }) => {
    const directory = join(folder, 'dist', id);
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'index.mjs'), id);
    return [id, { directory, bytes: id.length, hash: id, code: id }] as const;
  });
  return Object.fromEntries(await Promise.all(bundles));
}

interface Code {
  readonly handler: string;
  readonly runtime: string;
  /** The folder that sam puts into the container. */
  readonly folder: string;
}

/**
 * Functions as sam finds them, by logical id: `resource_metadata_normalizer.py` puts the path of the asset in the
 * place of `Code` if the metadata name both, and the path counts from the folder of the template.
 */
function functionsOf({ resources }: Template): ReadonlyMap<string, Code> {
  return new Map(
    Object.entries(resources).flatMap(([logicalId, { Type, Properties, Metadata = {} }]) => {
      // What runs only during a deployment is of no use on a laptop.
      const isTool = Properties?.FunctionName === 'Parlance-deployment-tasks';
      if (Type !== 'AWS::Lambda::Function' || isTool) return [];
      const { 'aws:asset:property': property, 'aws:asset:path': path } = Metadata;
      if (property !== 'Code' || typeof path !== 'string') return [];
      const { Handler: handler, Runtime: runtime } = Properties;
      const code = { handler: String(handler), runtime: String(runtime), folder: resolve(assembly, path) };
      return [[logicalId, code] as const];
    }),
  );
}

interface Api {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly logicalId: string;
}

/**
 * Routes as sam finds them: `parser.py` takes the integrations of type `aws_proxy` only, and of those
 * `integration_uri.py` takes the ones whose address, an `Fn::Sub`, names the ARN of a function of the template.
 */
function routesOf(template: Template): Route[] {
  const { Body } = template.the<{ Body: Api }>('AWS::ApiGateway::RestApi').Properties;
  return Object.entries(Body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const integration = (operation as Record<string, Value>)['x-amazon-apigateway-integration'];
      const { type, uri } = integration as { readonly type: string; readonly uri?: Value };
      if (type.toLowerCase() !== 'aws_proxy') return [];
      const logicalId = functionIn(uri);
      return logicalId === undefined ? [] : [{ method: method.toUpperCase(), path, logicalId }];
    }),
  );
}

/** The logical id of the function that an integration's address leads to. */
function functionIn(uri: Value | undefined): string | undefined {
  const text = typeof uri === 'object' ? (uri as Record<string, Value>)['Fn::Sub'] : undefined;
  if (typeof text !== 'string') return undefined;
  const arn = text.replaceAll(
    /\$\{([A-Za-z0-9]+)\.(?:Arn|Alias)\}/g,
    `arn:aws:lambda:\${AWS::Region}:123456789012:function:$1`,
  );
  return /.*:function:([^:]*)/.exec(/\/functions\/([^/]+)\/invocations/.exec(arn)?.[1] ?? '')?.[1];
}

/** How many workers a stack with nothing set has. */
const workersOf = (template: Template): number =>
  workers.filter(({ id }) =>
    [...template.all<FunctionProperties>('AWS::Lambda::Function').values()].some(
      ({ Properties }) => Properties.FunctionName === `Parlance-${id}`,
    ),
  ).length;

describe('sam local', () => {
  let template: Template;

  beforeAll(async () => {
    template = synthesized(await namedBundles(), assembly, { endpoints, workers });
  });

  test('finds the code of every function beside the template', () => {
    const functions = functionsOf(template);
    expect(functions.size).toBe(endpoints.length + workersOf(template));
    for (const { folder, handler, runtime } of functions.values()) {
      expect(dirname(folder)).toBe(assembly);
      expect(readFileSync(join(folder, 'index.mjs'), 'utf8')).not.toBe('');
      expect(handler).toBe('index.handler');
      expect(runtime).toBe('nodejs24.x');
    }
  });

  test('routes every endpoint to its own code', () => {
    const functions = functionsOf(template);
    const found = routesOf(template).map(({ method, path, logicalId }) => {
      const code = functions.get(logicalId) ?? expect.fail(`${logicalId} is no function`);
      return `${method} ${path} ${readFileSync(join(code.folder, 'index.mjs'), 'utf8')}`;
    });
    const declared = endpoints.flatMap(({ method, gatewayPath, id }) =>
      (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((verb) => `${verb} ${gatewayPath} ${id}`),
    );
    expect(found.sort()).toEqual(declared.sort());
  });

  test('reads an API of a version that it supports, through its one stage', () => {
    const { Body } = template.the<{ Body: Api }>('AWS::ApiGateway::RestApi').Properties;
    expect(Body.openapi).toMatch(/^3\./);
    const apis = Object.entries(template.resources).filter(
      ([, it]) => it.Type === 'AWS::ApiGateway::RestApi',
    );
    expect(template.the('AWS::ApiGateway::Stage').Properties).toMatchObject({
      StageName: 'prod',
      RestApiId: { Ref: apis[0]?.[0] },
    });
  });

  test('finds one stack with plain functions: no nested stack, version or alias', () => {
    const types = Object.values(template.resources).map(({ Type }) => Type);
    expect(types).not.toContain('AWS::CloudFormation::Stack');
    expect(types).not.toContain('AWS::Lambda::Version');
    expect(types).not.toContain('AWS::Lambda::Alias');
    expect(types.filter((it) => it.startsWith('AWS::Serverless::'))).toEqual([]);
  });
});
