import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from '@swc/core';
import { expect, it } from 'vitest';

/*
 * The verbs of the domain: `access*` loads a thing or refuses, `check*` decides and refuses, `do*` returns writes and
 * events, `load*` reads. Here the source is read to see that they do nothing else, themselves or by what they call.
 */

/** A node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a function does by itself. */
interface Traits {
  readonly refuses: boolean;
  readonly reads: boolean;
  readonly writes: boolean;
}

interface Described extends Traits {
  readonly name: string;
  readonly file: string;
  readonly calls: readonly string[];
}

/** A module: its functions, and from where the names come that it imports. */
interface Module {
  readonly functions: ReadonlyMap<string, Described>;
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** All nodes below a value, itself among them. */
function* nodesIn(value: unknown): Generator<Node> {
  if (isNode(value)) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const child of Object.values(value)) yield* nodesIn(child);
}

const identifier = (node: unknown): string =>
  isNode(node) && (node.type === 'Identifier' || node.type === 'StringLiteral') ? (node.value as string) : '';

/** The key of an item, and what a write to it has besides. */
const writeShapes = [['put', 'item'], ['update', 'change'], ['check', 'when'], ['delete']];

function isWrite({ type, properties }: Node): boolean {
  if (type !== 'ObjectExpression') return false;
  const names = (properties as Node[]).map((one) => identifier(one.type === 'Identifier' ? one : one.key));
  return writeShapes.some((shape) => shape.every((name) => names.includes(name)));
}

const READING = new Set(['get', 'getMany', 'page', 'all']);
const WRITING = new Set(['put', 'update', 'delete', 'transact']);

/** What a call of a method of the table does. */
function callsTable({ type, callee }: Node, methods: ReadonlySet<string>): boolean {
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
  const object = callee.object as Node;
  const on = identifier(object.type === 'MemberExpression' ? object.property : object);
  return on === 'table' && methods.has(identifier(callee.property));
}

/** A fault of ours may be thrown anywhere: an error of the language. */
const isRefusal = ({ type, argument }: Node): boolean =>
  type === 'ThrowStatement' && !/^(Range|Type)?Error$/.test(identifier((argument as Node).callee));

function describedFunction(name: string, file: string, node: Node): Described {
  const nodes = [...nodesIn(node.body)];
  const calls = nodes.flatMap(({ type, callee }) => (type === 'CallExpression' ? identifier(callee) : []));
  return {
    name,
    file,
    calls: calls.filter((called) => called !== ''),
    refuses: nodes.some(isRefusal),
    reads: node.async === true || nodes.some((one) => callsTable(one, READING)),
    writes: nodes.some((one) => isWrite(one) || callsTable(one, WRITING)),
  };
}

function parsedModule(file: string): Module {
  const tree = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2022' });
  const functions = new Map<string, Described>();
  const imports = new Map<string, { file: string; name: string }>();
  for (const node of nodesIn(tree)) {
    const { id, init, identifier: own } = node;
    if (node.type === 'FunctionDeclaration')
      functions.set(identifier(own), describedFunction(identifier(own), file, node));
    if (node.type === 'VariableDeclarator' && isNode(init) && init.type === 'ArrowFunctionExpression')
      functions.set(identifier(id), describedFunction(identifier(id), file, init));
    if (node.type !== 'ImportDeclaration') continue;
    const from = (node.source as Node).value as string;
    for (const { local, imported } of node.specifiers as Node[]) {
      const name = identifier(imported ?? local);
      if (from.startsWith('.')) imports.set(identifier(local), { file: join(dirname(file), from), name });
    }
  }
  return { functions, imports };
}

const files = ['shared', 'functions'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
const modules = new Map(files.map((file) => [file, parsedModule(file)]));
const functions = [...modules.values()].flatMap((one) => [...one.functions.values()]);

function calledFunction(file: string, name: string): Described | undefined {
  const own = modules.get(file)?.functions.get(name);
  if (own !== undefined) return own;
  const from = modules.get(file)?.imports.get(name);
  return from && modules.get(from.file)?.functions.get(from.name);
}

/** The chain of calls by which a function does something; undefined if it does not. */
function pathTo(
  trait: keyof Traits,
  one: Described,
  passed: ReadonlySet<Described> = new Set(),
): string[] | undefined {
  if (one[trait]) return [one.name];
  const through = new Set([...passed, one]);
  for (const name of one.calls) {
    const called = calledFunction(one.file, name);
    const path = called && !through.has(called) ? pathTo(trait, called, through) : undefined;
    if (path !== undefined) return [one.name, ...path];
  }
  return undefined;
}

const withVerb = (verb: string): Described[] =>
  functions.filter(({ name }) => new RegExp(`^${verb}[A-Z]`).test(name));

it.each(['access', 'check', 'do', 'load'])('there are functions named %s*', (verb) => {
  expect(withVerb(verb).length).toBeGreaterThan(20);
});

it.each([
  ['do', 'refuses'],
  ['do', 'reads'],
  ['check', 'writes'],
] as const)('no %s* %s, nor does anything that it calls', (verb, trait) => {
  expect(withVerb(verb).flatMap((one) => pathTo(trait, one)?.join(' > ') ?? [])).toEqual([]);
});

// What they call may refuse something that was let pass before, or return a write for later.
it.each([
  ['load', 'refuses'],
  ['load', 'writes'],
  ['access', 'writes'],
] as const)('no %s* %s by itself', (verb, trait) => {
  expect(withVerb(verb).filter((one) => one[trait])).toEqual([]);
});

it('no load* function calls one that may refuse', () => {
  const calls = withVerb('load').flatMap((one) =>
    one.calls.filter((name) => /^(access|check)[A-Z]/.test(name)),
  );
  expect(calls).toEqual([]);
});
