/** The text of a `zuliprc`, by which official clients know where the service is, and who they are there. */
export const clientConfiguration = (email: string, apiKey: string, site: string): string =>
  `[api]\nemail=${email}\nkey=${apiKey}\nsite=${site}\n`;
