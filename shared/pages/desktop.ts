import { html } from './html.ts';
import type { Page } from './layout.ts';

/** The page that hands an encrypted login token to the desktop client, by way of the clipboard. */
export const desktopPage = (encrypted: string): Page => ({
  title: 'Signed in',
  content: html`<p>Copy this text into the desktop application within 15 seconds:</p>
<p><code>${encrypted}</code></p>`,
});
