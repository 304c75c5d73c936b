import type { Ruler } from 'markdown-it';

/** One of the parser's own rules as a function, so that a rule of ours can use it. It must be on. */
export function ruleNamed<Args extends unknown[], Result>(ruler: Ruler<Args, Result>, name: string) {
  const all = ruler.getRules('');
  ruler.disable(name);
  const others = new Set(ruler.getRules(''));
  ruler.enable(name);
  const rule = all.find((candidate) => !others.has(candidate));
  if (!rule) throw new Error(`The parser has no rule ${name}.`);
  return rule;
}
