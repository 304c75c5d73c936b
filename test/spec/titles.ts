import { parse } from '@swc/core';

/** The parts of a node of the syntax tree that are read here. */
interface Node {
  readonly type: string;
  readonly [part: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const makers = ['it', 'test', 'describe'];
/** Modifiers of tests that do not run, which prove nothing. */
const idle = ['skip', 'todo', 'fails', 'skipIf', 'runIf'];

/** The words of a callee: `it.each([1])` is `it`, `each`. */
function wordsOf(callee: unknown): string[] {
  if (!isNode(callee)) return [];
  if (callee.type === 'Identifier') return [String(callee.value)];
  if (callee.type === 'MemberExpression') return [...wordsOf(callee.object), ...wordsOf(callee.property)];
  if (callee.type === 'CallExpression' || callee.type === 'TsInstantiation') {
    return wordsOf(callee.callee ?? callee.expression);
  }
  return [];
}

/** The text of a title; what is filled in at run time is left out. */
function textOf(title: Node): string {
  if (title.type === 'StringLiteral') return String(title.value);
  if (title.type !== 'TemplateLiteral') return '';
  return (title.quasis as readonly { readonly raw: string }[]).map(({ raw }) => raw).join('…');
}

/** The titles of the tests in a file, and of the groups around them: read from its text, without running it. */
export async function titlesIn(source: string): Promise<string[]> {
  const titles: string[] = [];
  const open: unknown[] = [await parse(source, { syntax: 'typescript', target: 'es2024' })];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      open.push(...next);
      continue;
    }
    if (typeof next !== 'object' || next === null) continue;
    if (isNode(next) && next.type === 'CallExpression') {
      const [maker = '', ...modifiers] = wordsOf(next.callee);
      const [title] = next.arguments as readonly { readonly expression: Node }[];
      const isRun = makers.includes(maker) && !modifiers.some((word) => idle.includes(word));
      if (isRun && title) titles.push(textOf(title.expression));
    }
    open.push(...Object.values(next).filter((part) => part !== undefined && part !== null));
  }
  return titles.filter((title) => title !== '');
}
