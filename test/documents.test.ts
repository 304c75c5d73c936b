import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { project } from './checks.ts';

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: project, encoding: 'utf8' })
  .trim()
  .split('\n');

const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));

/** The anchor that a heading gets. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const read = (file: string): Promise<string> => readFile(join(project, file), 'utf8');

async function hasAnchor(file: string, name: string): Promise<boolean> {
  const headings = (await read(file)).matchAll(/^#+ (.+)$/gm);
  return [...headings].some(([, heading = '']) => anchor(heading) === name);
}

describe.each(documents)('%s', (document) => {
  it('links to pages and headings that exist', async () => {
    const broken: string[] = [];
    for (const [, link = ''] of (await read(document)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', name] = link.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(project, file)) || (name && !(await hasAnchor(file, name)))) broken.push(link);
    }
    expect(broken).toEqual([]);
  });

  it('mentions only files and commands that exist', async () => {
    const text = await read(document);
    const files = [
      ...text.matchAll(/\b(?:functions|shared|infra|test|docs)\/[\w./-]+\.(?:ts|mjs|md|svg|json)\b/g),
    ];
    const commands = [...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)];
    expect(files.map(([file]) => file).filter((file) => !existsSync(join(project, file)))).toEqual([]);
    expect(commands.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([]);
  });
});
