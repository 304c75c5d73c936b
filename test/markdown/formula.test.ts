import { describe, expect, it, vi } from 'vitest';
import { loadTypesetter, mayHaveFormulas } from '../../shared/markdown/formula.ts';
import { NOTHING_RESOLVED } from '../../shared/markdown/references.ts';
import { MAX_HTML_BYTES, render } from '../../shared/markdown/render.ts';
import { inspect } from './safe-html.ts';

const typesetter = await loadTypesetter();
const htmlOf = (text: string): string => render(text, { ...NOTHING_RESOLVED, typesetter }).html;
const inLine = (formula: string): string => typesetter(formula, false);
const inBlock = (formula: string): string => `<p>${typesetter(formula, true)}</p>`;

describe('formulas', () => {
  it('are MathML for readers and HTML for eyes', () => {
    expect(inLine('x')).toMatch(/^<span class="katex"><span class="katex-mathml"><math .*<mi>x<\/mi>/);
    expect(inLine('x')).toContain('<span class="katex-html" aria-hidden="true"><span class="base">');
    expect(inBlock('x')).toMatch(/^<p><span class="katex-display"><span class="katex">/);
  });

  it.each([
    ['a formula in a line', 'so $$a<b$$.', `<p>so ${inLine('a<b')}.</p>`],
    ['white space in it stays', '$$ a $$', `<p>${inLine(' a ')}</p>`],
    ['a dollar in it', String.raw`$$5\$$$`, `<p>${inLine(String.raw`5\$`)}</p>`],
    ['no markup in it', String.raw`$$\text{*a*}$$`, `<p>${inLine(String.raw`\text{*a*}`)}</p>`],
    ['not over two lines', '$$a\nb$$', '<p>$$a<br>\nb$$</p>'],
    ['not in a word', 'a$$b$$ $$b$$c', '<p>a$$b$$ $$b$$c</p>'],
    ['not in code', '`$$a$$`', '<p><code>$$a$$</code></p>'],
    ['prices are text', '$5 or $$6, $$$ and $$$$ $$_$$', '<p>$5 or $$6, $$$ and $$$$ $$_$$</p>'],
    ['a block', 'a\n```math\nb\n```', `<p>a</p>\n${inBlock('b')}`],
    ['blank lines separate formulas', '~~~ math\na\n\nb\nc\n~~~', `${inBlock('a')}\n${inBlock('b\nc')}`],
    ['a block in a quote', '> ```math\n> a\n> ```', `<blockquote>\n${inBlock('a')}\n</blockquote>`],
    ['an empty block', '```math\n```', ''],
    [
      'a mistake is shown as it was written',
      '$$\\nope{*a*} <b>$$',
      '<p><span class="tex-error">$$\\nope{*a*} &lt;b&gt;$$</span></p>',
    ],
    ['a mistake in a block', '```math\n\\nope\n```', '<p><span class="tex-error">\\nope</span></p>'],
  ])('%s', (_says, text, html) => {
    expect(htmlOf(text)).toBe(html);
    expect(mayHaveFormulas(text) || !html.includes('katex')).toBe(true);
  });

  it.each(['a', '$5', 'maths', '`math`', '```js\nmath\n```'])('%j does not load the typesetter', (text) => {
    expect(mayHaveFormulas(text)).toBe(false);
  });
});

describe('hostile formulas', () => {
  it.each([
    String.raw`\frac{a}{b} \sqrt[3]{x} \vec{ab} \widehat{abc} \overline{x} \boxed{x} x'' \dots \vdots`,
    String.raw`\begin{array}{|c|r:}\hline a&b\\ \hdashline c&d\end{array} \begin{cases}a\\b\end{cases}`,
    String.raw`\left(\frac{a}{b}\right) \underbrace{a}_{b} \xrightarrow[a]{b} \cancel{x} \sout{x} \phase{-78}`,
    String.raw`\color{red}x \colorbox{blue}{y} \fcolorbox{red}{blue}{z} \pmb{x} \rule[1em]{2em}{3em} \kern-3em`,
    String.raw`\text{\textbf{b} ü 日本} \mathbb{R} \mathfrak{g} \boldsymbol{\alpha} \Huge a \raisebox{1em}{a} \llap{a}`,
    String.raw`\binom{n}{k} \sum_{i}^{n} \int\limits_0^1 \oiint \lim_{x\to0} \overset{a}{b} \utilde{AB} \bra{a} \KaTeX`,
  ])('differ from usual ones, which pass the same check: %s', (formula) => {
    for (const text of [`$$${formula}$$`, `~~~math\n${formula}\n~~~`]) {
      const html = htmlOf(text);
      expect(html).not.toContain('tex-error');
      expect(inspect(html)).not.toHaveProperty('problem');
    }
  });

  it.each([
    String.raw`\href{javascript:alert(1)}{x}`,
    String.raw`\url{https://example.com}`,
    String.raw`\htmlClass{evil}{x}`,
    String.raw`\htmlId{evil}{x}`,
    String.raw`\htmlStyle{position:fixed}{x}`,
    String.raw`\htmlData{a=b}{x}`,
    String.raw`\includegraphics[width=9em]{https://example.com/a.png}`,
    String.raw`\color{red;background:url(x)}{x}`,
    String.raw`\textcolor{"><script>alert(1)</script>}{x}`,
    String.raw`\text{<img src=x onerror=alert(1)>"'&}`,
    String.raw`\rule{9999em}{9999em}`,
    String.raw`\unicode{0}\char"3C\char"0`,
  ])('make no active HTML: %s', (formula) => {
    const html = htmlOf(`$$${formula}$$`);
    expect(inspect(html)).not.toHaveProperty('problem');
    expect(html.replace(/<annotation.*?<\/annotation>/s, '')).not.toMatch(
      /evil|javascript:alert|<a |<img|9999em/,
    );
  });

  it.each([
    ['a macro that grows', `\\def\\a{${'x'.repeat(4_000)}}${'\\a'.repeat(2_000)}`],
    ['a macro that calls itself', String.raw`\def\a{\a\a}\a`],
    ['a macro that doubles', String.raw`\edef\a{xx}${String.raw`\edef\a{\a\a}`.repeat(400)}\a`],
    ['groups in groups', '{'.repeat(4_900) + '}'.repeat(4_900)],
    ['roots in roots', '\\sqrt{'.repeat(900) + '}'.repeat(900)],
    ['a wide matrix', `\\begin{matrix}${'a&'.repeat(4_900)}\\end{matrix}`],
    ['fences in fences', '\\left('.repeat(300) + '\\right)'.repeat(300)],
  ])('are refused in time: %s', { timeout: 30_000 }, (_says, formula) => {
    const html = htmlOf(`$$${formula}$$`);
    expect(html).toMatch(/^<p><span class="tex-error">/);
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MAX_HTML_BYTES);
  });

  it.each([
    ['a character that it does not know', '\\text{\ufeff}'],
    ['a formula that takes too long', '\\text{\ufeff}\\def\\a{\\a\\a}\\a'],
  ])('are not logged, and later warnings still are: %s', { timeout: 30_000 }, (_says, formula) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    htmlOf(`$$${formula}$$`);
    expect(warn).not.toHaveBeenCalled();
    console.warn('others');
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it('share the time limit of their message', { timeout: 30_000 }, () => {
    const slow = `\\def\\a{${'x'.repeat(2_000)}}${'\\a'.repeat(900)}`;
    const html = htmlOf([slow, slow, 'x'].map((formula) => `$$${formula}$$`).join(' '));
    // Even the short one: the two before it have used up the time.
    expect(html.match(/tex-error/g)).toHaveLength(3);
  });

  it.each(['$$', '$$x', '$$x$$', '$$x$$ ', '$$\\nope$$ ', '$', '$$\\$', '\\$'])(
    'are rendered even with ten thousand characters of %j',
    { timeout: 30_000 },
    (piece) => {
      const html = htmlOf(piece.repeat(10_000 / piece.length));
      expect(inspect(html)).not.toHaveProperty('problem');
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MAX_HTML_BYTES);
    },
  );
});
