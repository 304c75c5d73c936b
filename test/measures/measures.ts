import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { circles, fileImports, folderImports, type Graph, mutualPairs, sources } from './imports.ts';

/** The code as the measures see it. */
interface Code {
  readonly shared: ReadonlyMap<string, string>;
  readonly handlers: ReadonlyMap<string, string>;
  readonly files: Graph;
  readonly folders: Graph;
  /** The text of `CONTRIBUTING.md`. */
  readonly contributing: string;
}

/** A count that says how easy the code is to find one's way in. */
export interface Measure {
  readonly name: string;
  /** The highest value that is good enough. */
  readonly wanted: number;
  /** Whether the test holds the code to it. Set it as soon as it is reached. */
  readonly held: boolean;
  readonly count: (code: Code) => number;
  /** What is counted, one by one, if that helps to bring it down. */
  readonly list?: (code: Code) => readonly string[];
}

const lines = (text: string): number => text.split('\n').length - 1;
const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** A read of the table with an item type that nothing proves, such as `table.get<User>`. */
const ASSERTED = /\btable\.(get|getMany|page|all)</g;

const allCircles = ({ files, folders }: Code) => [...circles(files), ...circles(folders)];
const pairs = ({ folders }: Code) => mutualPairs(folders);
const handlerLines = ({ handlers }: Code) =>
  [...handlers].map(([file, text]) => ({ file, length: lines(text) })).sort((a, b) => b.length - a.length);
const assertions = ({ shared, handlers }: Code) =>
  [...shared, ...handlers]
    .map(([file, text]) => ({ file, count: text.match(ASSERTED)?.length ?? 0 }))
    .filter(({ count }) => count > 0);

/** Words in the glossary: rows of the table under that heading. */
function glossary({ contributing }: Code): readonly string[] {
  const [, after = ''] = contributing.split(/^## Glossary$/m);
  const [section = ''] = after.split(/^## /m);
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split('|')[1]?.trim() ?? '');
}

/** What is counted in the text of the code. The files that a request enters are counted by `entered.measure.ts`. */
export const measures: readonly Measure[] = [
  {
    name: 'folder pairs in shared/ that import each other',
    wanted: 0,
    held: true,
    count: (code) => pairs(code).length,
    list: (code) => pairs(code).map((pair) => pair.join(' <> ')),
  },
  {
    name: 'circles of files or folders in shared/',
    wanted: 0,
    held: true,
    count: (code) => allCircles(code).length,
    list: (code) => allCircles(code).map((circle) => circle.join(' ')),
  },
  {
    name: 'lines of the longest handler in functions/',
    wanted: 60,
    held: true,
    count: (code) => handlerLines(code)[0]?.length ?? 0,
    list: (code) =>
      handlerLines(code)
        .slice(0, 10)
        .map(({ file, length }) => `${file}: ${length}`),
  },
  {
    name: 'asserted item types at reads of the table',
    wanted: 0,
    held: true,
    count: (code) => total(assertions(code).map(({ count }) => count)),
    list: (code) => assertions(code).map(({ file, count }) => `${file}: ${count}`),
  },
  {
    name: 'words in the glossary',
    wanted: 25,
    held: true,
    count: (code) => glossary(code).length,
  },
];

/** The most files that a request may enter, by the request. */
export const enteredWanted = { send: 44, 'channel edit': 44, poll: 34 } as const;

/** Reads the code of a project. */
export async function readCode(project: string): Promise<Code> {
  const [shared, handlers, contributing] = await Promise.all([
    sources(project, 'shared'),
    sources(project, 'functions'),
    readFile(join(project, 'CONTRIBUTING.md'), 'utf8'),
  ]);
  const files = fileImports(shared);
  return { shared, handlers, files, folders: folderImports(files), contributing };
}
