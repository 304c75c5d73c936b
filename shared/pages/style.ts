import { sha256 } from '../kernel/text.ts';

/**
 * The one style sheet of all pages. It stands in each page, and the policy allows its digest only. It has no `#`, which
 * would be a directive in the templates of API Gateway.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: rgb(244 245 247); --sheet: rgb(255 255 255); --ink: rgb(28 32 36); --soft: rgb(91 99 110); --line: rgb(213 217 223); --edge: rgb(133 141 152);
  --accent: rgb(36 87 197); --on-accent: rgb(255 255 255); --bad: rgb(179 38 30); --bad-ground: rgb(253 236 235); --good: rgb(27 110 60); --good-ground: rgb(232 245 236);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: rgb(21 24 28); --sheet: rgb(30 34 39); --ink: rgb(232 234 237); --soft: rgb(165 173 184); --line: rgb(54 60 68); --edge: rgb(121 129 140);
    --accent: rgb(138 176 255); --on-accent: rgb(16 21 31); --bad: rgb(255 157 148); --bad-ground: rgb(58 31 29); --good: rgb(134 214 162); --good-ground: rgb(27 49 36);
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
body { margin: 0; padding: 3rem 1rem; background: var(--ground); color: var(--ink); }
main { max-width: 26rem; margin: 0 auto; padding: 2rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
main.wide { max-width: 46rem; }
header p { margin: 0 0 .25rem; color: var(--soft); font-size: .9rem; }
h1 { margin: 0 0 1.5rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.1rem; }
p { margin: 0 0 1rem; }
pre { margin: .75rem 0 0; white-space: pre-wrap; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
form > div { margin-bottom: 1rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
input { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--edge); border-radius: .4rem; }
input:read-only { background: var(--ground); }
input[aria-invalid] { border-color: var(--bad); }
button, .button { display: inline-block; min-height: 2.75rem; padding: .5rem 1.1rem; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .4rem; }
button.quiet, .button { color: var(--accent); background: none; }
button.danger { color: var(--bad); background: none; border-color: var(--bad); }
.hint { margin: .25rem 0 0; color: var(--soft); font-size: .9rem; }
.hint + form { margin-top: .75rem; }
.error { margin: .25rem 0 0; color: var(--bad); font-size: .9rem; }
.alert, .notice { padding: .6rem .9rem; border-radius: .4rem; }
.alert { color: var(--bad); background: var(--bad-ground); }
.notice { color: var(--good); background: var(--good-ground); }
.choices { margin: 0 0 1.5rem; padding: 0; list-style: none; }
.choices li + li { margin-top: .5rem; }
.choices .button { display: block; text-align: center; }
.or { display: flex; gap: .75rem; align-items: center; color: var(--soft); font-size: .9rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.after { margin: 1.25rem 0 0; }
.devices { margin: 0; padding: 0; list-style: none; }
.devices li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding: .75rem 0; border-bottom: 1px solid var(--line); }
.devices div { flex: 1 1 16rem; }
.devices .hint { margin: 0; }
.mark { margin-left: .5rem; padding: .1rem .5rem; font-size: .8rem; color: var(--good); background: var(--good-ground); border-radius: 1rem; white-space: nowrap; }
@media (width <= 30rem) { body { padding: 0; } main { border: 0; border-radius: 0; min-height: 100vh; padding: 1.5rem 1rem; } }
`;

const digest = sha256(STYLE).toString('base64');

/** The value of `Content-Security-Policy` of a page: no script, nothing loaded, no frame, forms to this service only. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${digest}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');
