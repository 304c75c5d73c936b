import { type Context, createContext, Script } from 'node:vm';

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
 * sizes have a limit, and nothing is logged.
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
