/** External accounts whose addresses clients can make themselves (wire facts 6): what a field for one is called. */
export const externalAccounts: Readonly<Record<string, ExternalAccount>> = {
  github: {
    text: 'GitHub',
    name: 'GitHub username',
    hint: 'Enter your GitHub username',
    url_pattern: 'https://github.com/%(username)s',
  },
  twitter: {
    text: 'Twitter',
    name: 'Twitter username',
    hint: 'Do not include the @',
    url_pattern: 'https://twitter.com/%(username)s',
  },
};

interface ExternalAccount {
  readonly text: string;
  readonly name: string;
  readonly hint: string;
  readonly url_pattern: string;
}

/** The external account of this name, if it is one that everybody knows. */
export const knownAccount = (subtype: string): ExternalAccount | undefined =>
  Object.hasOwn(externalAccounts, subtype) ? externalAccounts[subtype] : undefined;
