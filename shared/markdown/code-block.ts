import type { MarkdownIt } from 'markdown-it';

/** The names of languages that clients show, with the words that people write for them. Other words stay as written. */
const LANGUAGES: ReadonlyMap<string, string> = new Map(
  [
    'Bash: bash sh shell zsh',
    'Bash Session: console shell-session',
    'C: c h',
    'C#: csharp c# cs',
    'C++: cpp c++ cc hpp',
    'CSS: css',
    'Clojure: clojure clj',
    'Dart: dart',
    'Diff: diff patch udiff',
    'Docker: docker dockerfile',
    'Elixir: elixir ex exs',
    'Elm: elm',
    'Erlang: erlang erl',
    'F#: fsharp f# fs',
    'Go: go golang',
    'GraphQL: graphql',
    'Groovy: groovy',
    'HTML: html htm xhtml',
    'Haskell: haskell hs',
    'INI: ini cfg',
    'JSON: json',
    'Java: java',
    'JavaScript: javascript js',
    'Julia: julia jl',
    'Kotlin: kotlin kt',
    'Lua: lua',
    'Makefile: makefile make mf',
    'Markdown: markdown md',
    'Nix: nix nixos',
    'OCaml: ocaml',
    'Objective-C: objective-c objectivec obj-c objc',
    'PHP: php',
    'HTML+PHP: html+php',
    'CSS+PHP: css+php',
    'JavaScript+PHP: javascript+php js+php',
    'XML+PHP: xml+php',
    'Perl: perl pl',
    'PowerShell: powershell pwsh posh ps1',
    'Python: python py py3 python3',
    'Python 2.x: python2 py2',
    'Ruby: ruby rb',
    'Rust: rust rs',
    'S: r s splus',
    'SCSS: scss',
    'SQL: sql',
    'Scala: scala',
    'Swift: swift',
    'TOML: toml',
    'TeX: tex latex',
    'Terraform: terraform tf',
    'Text only: text plain',
    'TypeScript: typescript ts',
    'XML: xml svg rss',
    'YAML: yaml yml',
    'Zig: zig',
  ].flatMap((line) => {
    const [name = '', words = ''] = line.split(': ');
    return words.split(' ').map((word) => [word, name] as const);
  }),
);

/** The language named after the opening fence: `py`, `.py` and `{.py}` are all Python. */
function languageOf(info: string): string {
  const word = /^\s*\{?\.?([\w+\-./#]{1,60})\}?(?=\s|$)/.exec(info)?.[1] ?? '';
  return LANGUAGES.get(word.toLowerCase()) ?? word;
}

/** Code without blank lines around it and white space at the ends of its lines, which nobody means to show. */
function withoutEdges(code: string): string {
  const lines = code.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return first < 0 ? '' : `${lines.slice(first, last + 1).join('\n')}\n`;
}

/** Blocks of code, fenced or indented, in the markup in which clients highlight them. */
export function codeBlocks(markdown: MarkdownIt): void {
  const { escapeHtml } = markdown.utils;
  const block = (code: string, language: string): string => {
    const attribute = language === '' ? '' : ` data-code-language="${escapeHtml(language)}"`;
    const text = escapeHtml(withoutEdges(code));
    return `<div class="codehilite"${attribute}><pre><span></span><code>${text}</code></pre></div>\n`;
  };
  markdown.renderer.rules.fence = (tokens, index) =>
    block(tokens[index]?.content ?? '', languageOf(tokens[index]?.info ?? ''));
  markdown.renderer.rules.code_block = (tokens, index) => block(tokens[index]?.content ?? '', '');
}
