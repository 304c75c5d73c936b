import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';

/** From each name to those that it imports. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Imports and re-exports of our own files, of values as of types. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** TypeScript files under a folder, by their path from the root of the project. */
export async function sources(project: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(project, folder), { recursive: true });
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
  return new Map(
    await Promise.all(
      files.map(async (file) => [file, await readFile(join(project, file), 'utf8')] as const),
    ),
  );
}

/** Which file imports which; type imports count. */
export const fileImports = (files: ReadonlyMap<string, string>): Graph =>
  new Map(
    [...files].map(([file, text]) => {
      const imported = [...text.matchAll(IMPORTED)].map(([, path = '']) =>
        normalize(join(dirname(file), path)),
      );
      return [file, new Set(imported.filter((path) => files.has(path)))];
    }),
  );

/** Which folder imports which, without itself. */
export function folderImports(files: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imported] of files) {
    const folder = dirname(file);
    const others = folders.get(folder) ?? new Set();
    folders.set(folder, others);
    for (const other of imported) if (dirname(other) !== folder) others.add(dirname(other));
  }
  return folders;
}

/** Pairs that import each other directly. */
export const mutualPairs = (graph: Graph): readonly (readonly [string, string])[] =>
  [...graph].flatMap(([one, others]) =>
    [...others]
      .filter((other) => one < other && graph.get(other)?.has(one))
      .map((other) => [one, other] as const),
  );

/** Groups of names that can all be reached from each other (strongly connected components of more than one). */
export function circles(graph: Graph): readonly (readonly string[])[] {
  const reached = new Map([...graph.keys()].map((name) => [name, reachable(graph, name)]));
  const found: string[][] = [];
  const seen = new Set<string>();
  for (const [name, others] of reached) {
    if (seen.has(name)) continue;
    const circle = [...others].filter((other) => reached.get(other)?.has(name));
    for (const each of circle) seen.add(each);
    if (circle.length > 0) found.push(circle.sort());
  }
  return found;
}

/** What can be reached over one import or more. */
function reachable(graph: Graph, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const other of graph.get(name) ?? []) {
      if (reached.has(other)) continue;
      reached.add(other);
      open.push(other);
    }
  }
  return reached;
}
