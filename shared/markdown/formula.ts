import { type Context, createContext, Script } from 'node:vm';
import type { Env, MarkdownIt, StateInline, Token } from 'markdown-it';
import { matchHere } from './inline.ts';

/** Turns a TeX formula into HTML; throws if it cannot. `isDisplay` is for a formula in a paragraph of its own. */
export type Typesetter = (formula: string, isDisplay: boolean) => string;

/** A formula begins with two dollars, or with the fence of a block of formulas. */
const MAY_HAVE_FORMULAS = /\$\$|^[ \t>]*(?:`{3,}|~{3,})[ \t]*math/m;

/** Whether a text may have formulas. Most have none, and then nothing is loaded. */
export const mayHaveFormulas = (text: string): boolean => MAY_HAVE_FORMULAS.test(text);

/**
 * Loads the typesetter, 270 KB of code that a function has in a file of its own.
 *
 * Formulas come from strangers. So commands that make links, load images or set classes and styles stay off (`trust`),
 * and sizes have a limit.
 */
export async function loadTypesetter(): Promise<Typesetter> {
  const { default: katex } = await import('katex');
  return (formula, isDisplay) =>
    katex.renderToString(formula, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxSize: 50,
      maxExpand: 1_000,
    });
}

/** A script and its place, made for the first formula, since that takes a millisecond. */
let caller: { readonly script: Script; readonly place: Context } | undefined;

/**
 * Calls a function that may take too long, and ends it with an error after some milliseconds. A macro of TeX can make
 * gigabytes of a short formula, and no rule about formulas would find them all. Node.js ends only what a script began.
 */
export function withinTime(milliseconds: number, work: () => string): string {
  caller ??= { script: new Script('work()'), place: createContext() };
  const { script, place } = caller;
  place.work = work;
  return String(script.runInContext(place, { timeout: milliseconds }));
}

/** What the formulas of one text may take together: milliseconds, and bytes of HTML. */
const MAX_MILLISECONDS = 1_000;
const MAX_BYTES = 100_000;
/** How deep the elements of one formula may nest. Browsers give up at some 500 levels, and phones earlier. */
const MAX_DEPTH = 150;

/** Typesets the formulas of one text; undefined for a formula that is no TeX or takes too much. */
export type Formulas = (formula: string, isDisplay: boolean) => string | undefined;

/** The formulas of one text, which share a limit of time and size. */
export function formulasOf(typesetter: Typesetter): Formulas {
  let [milliseconds, bytes] = [MAX_MILLISECONDS, MAX_BYTES];
  return (formula, isDisplay) => {
    if (milliseconds < 1 || bytes < 0) return undefined;
    const started = performance.now();
    const { warn } = console;
    // KaTeX warns of characters that it does not know, and has no option against that. A log holds nothing of messages. It
    // is put back out here: nothing in the script runs once its time is over.
    console.warn = () => {};
    try {
      const html = withinTime(Math.ceil(milliseconds), () => typesetter(formula, isDisplay));
      bytes -= Buffer.byteLength(html);
      return bytes >= 0 && depthOf(html) <= MAX_DEPTH ? html : undefined;
    } catch {
      return undefined;
    } finally {
      console.warn = warn;
      milliseconds -= performance.now() - started;
    }
  };
}

function depthOf(html: string): number {
  let [depth, deepest] = [0, 0];
  for (const [, end, empty] of html.matchAll(/<(\/?)[a-z][^>]*?(\/?)>/g)) {
    if (!empty) depth += end ? -1 : 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Formulas stand apart from letters, so that prices and code stay text. They may hold dollars as `\\$`. */
const FORMULA = /(?<![\w$])\$\$([^\n$_](?:\\\$|[^\n$])*)\$\$(?![\w$])/y;

function formulaRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '$') return false;
  const match = matchHere(state, FORMULA);
  if (!match) {
    // Dollars that begin no formula are text, all of them: `$$$$` has none in its middle.
    let end = state.pos;
    while (end < state.posMax && state.src.charAt(end) === '$') end += 1;
    if (!silent) state.pending += state.src.slice(state.pos, end);
    state.pos = end;
    return true;
  }
  if (!silent) state.push('formula', '', 0).content = match[1] ?? '';
  state.pos += match[0].length;
  return true;
}

/** What stands for a formula that cannot be typeset. */
const failed = (source: string): string => `<span class="tex-error">${source}</span>`;

/**
 * TeX: `$$x^2$$` in a line, and blocks with the fence `math`, where a blank line separates formulas. A text without a
 * typesetter shows its formulas as code. `formulasIn` gives those of a text from the parser's environment.
 */
export function formulas(markdown: MarkdownIt, formulasIn: (env: Env) => Formulas | undefined): void {
  const { escapeHtml } = markdown.utils;
  const { rules } = markdown.renderer;
  markdown.inline.ruler.before('emphasis', 'formula', formulaRule);
  rules.formula = (tokens, index, _options, env = {}) => {
    const formula = tokens[index]?.content ?? '';
    const typeset = formulasIn(env);
    if (!typeset) return `<code>${escapeHtml(formula)}</code>`;
    return typeset(formula, false) ?? failed(escapeHtml(`$$${formula}$$`));
  };
  const code = rules.fence;
  rules.fence = (tokens, index, options, env = {}, renderer) => {
    const typeset = formulasIn(env);
    const block = tokens[index];
    if (!typeset || !block || !isFormulas(block)) return code?.(tokens, index, options, env, renderer) ?? '';
    const separate = block.content.split(/\n\s*\n/).map((formula) => formula.replace(/^\n+|\s+$/g, ''));
    return separate
      .filter((formula) => formula !== '')
      .map((formula) => `<p>${typeset(formula, true) ?? failed(escapeHtml(formula))}</p>\n`)
      .join('');
  };
}

const isFormulas = ({ info }: Token): boolean => /^\{?\.?math\}?$/.test(info.trim());
