import { html } from './html.ts';
import type { Page } from './layout.ts';

const titles: Readonly<Record<number, string>> = {
  401: 'This is not allowed',
  403: 'This is not allowed',
  404: 'There is no such page',
  405: 'This page does not take that',
  413: 'This is too much',
  429: 'Too many requests',
};

/**
 * The page about a request that was refused, or that failed (status 500).
 *
 * @param root what comes before every path (`Site`); undefined if nobody knows, and there is no link then
 */
export const failurePage = (root: string | undefined, status: number, message: string): Page => ({
  title: titles[status] ?? (status >= 500 ? 'Something went wrong' : 'This did not work'),
  content: html`<p>${message}</p>${root !== undefined && html`<p class="after"><a href="${root}/account">Go to your account, or sign in</a></p>`}`,
});
