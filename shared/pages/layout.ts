import { type Content, Html, html } from './html.ts';
import { STYLE } from './style.ts';

/** Where a page stands, which its links and forms need. */
export interface Site {
  /** What comes before every path: nothing, or at API Gateway's own address the name of the stage. */
  readonly root: string;
  /** Proves that a form came with a page of ours to this browser. */
  readonly formToken: string;
}

/** A page without its surroundings. */
export interface Page {
  readonly title: string;
  /** Text above the title, such as the name of the organization. */
  readonly above?: string;
  readonly content: Content;
  /** Whether it holds lists, and so takes more room than a form. */
  readonly isWide?: boolean;
}

/** The whole HTML document of a page. */
export const documentOf = ({ title, above = 'Parlance', content, isWide = false }: Page): string =>
  `<!doctype html>${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} - ${above}</title>
${styleElement}
</head>
<body>
<main class="${isWide ? 'wide' : 'narrow'}">
<header><p>${above}</p><h1>${title}</h1></header>
${content}
</main>
</body>
</html>
`}`;

/** The text of a style element is no HTML: nothing in it is escaped, or the digest of the policy would not fit. */
const styleElement = new Html(`<style>${STYLE}</style>`);

/** What a page without a stylesheet may do: nothing. It says so by itself, in an element. */
const PLAIN_POLICY = "default-src 'none'; form-action 'none'; base-uri 'none'";

/** The same without a stylesheet, for where it has to be short: browsers show it dark or light by themselves. */
export const plainDocumentOf = ({ title, above = 'Parlance', content }: Page): string =>
  `<!doctype html>${html`<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${PLAIN_POLICY}">
<title>${title} - ${above}</title>
<main>
<h1>${title}</h1>
${content}
</main>
`}`;
