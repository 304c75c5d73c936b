import type { Route } from './template-api.ts';

/** The route of a request, and what its path has in the place of the variables. */
export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
}

interface Node {
  readonly children: Map<string, Node>;
  /** The one variable that there can be at a level, without its braces. */
  variable: { readonly name: string; readonly node: Node } | undefined;
  /** A variable that takes all the rest of the path: `{proxy+}`. */
  greedy: { readonly name: string; readonly node: Node } | undefined;
  readonly methods: Map<string, Route>;
}

const newNode = (): Node => ({
  children: new Map(),
  variable: undefined,
  greedy: undefined,
  methods: new Map(),
});

/**
 * The routes of an API as the tree that API Gateway keeps: at each level a fixed segment goes before a variable, and
 * a variable before one that takes all the rest. A path is decided first, then the method.
 */
export class RouteTable {
  readonly #root = newNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      let node = this.#root;
      for (const segment of segmentsOf(route.path)) node = step(node, segment);
      node.methods.set(route.method, route);
    }
  }

  /**
   * Finds the route of a path as it was sent. Values of variables are left percent-encoded, as API Gateway leaves
   * them for a function. Slashes at the end do not count.
   */
  match(method: string, path: string): RouteMatch | undefined {
    const found = search(this.#root, segmentsOf(path), 0);
    const route = found?.node.methods.get(method) ?? found?.node.methods.get('ANY');
    return route && { route, pathParameters: Object.fromEntries(found?.parameters ?? []) };
  }
}

const segmentsOf = (path: string): string[] => {
  const trimmed = path.replace(/^\/+/, '').replace(/\/+$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
};

/** The node below, made if it is not there yet. */
function step(node: Node, segment: string): Node {
  const name = /^\{(.+?)(\+?)\}$/.exec(segment);
  if (!name) {
    const child = node.children.get(segment) ?? newNode();
    node.children.set(segment, child);
    return child;
  }
  const kind = name[2] === '+' ? 'greedy' : 'variable';
  node[kind] ??= { name: name[1] ?? '', node: newNode() };
  return node[kind].node;
}

interface Found {
  readonly node: Node;
  readonly parameters: readonly (readonly [string, string])[];
}

function search(node: Node, segments: readonly string[], depth: number): Found | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.methods.size > 0 ? { node, parameters: [] } : undefined;
  const child = node.children.get(decodeURIComponent(segment));
  const fixed = child && search(child, segments, depth + 1);
  if (fixed) return fixed;
  if (node.variable && segment !== '') {
    const below = search(node.variable.node, segments, depth + 1);
    if (below) return { ...below, parameters: [[node.variable.name, segment], ...below.parameters] };
  }
  return (
    node.greedy && {
      node: node.greedy.node,
      parameters: [[node.greedy.name, segments.slice(depth).join('/')]],
    }
  );
}
