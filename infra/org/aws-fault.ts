/** Faults between this machine and DynamoDB that say nothing about the request. */
const UNREACHABLE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|TimeoutError)$/;

/** What AWS says to those who may not, or are not who they say. */
const REFUSED =
  /^(AccessDenied|UnrecognizedClient|InvalidClientTokenId|ExpiredToken|InvalidSignature|SignatureDoesNotMatch|MissingAuthenticationToken|IncompleteSignature|OptInRequired)/;

/** One sentence for an operator whose way to AWS is the problem; undefined for any other fault. */
export function faultOfAws(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'ResourceNotFoundException')
    return 'There is no such table there: look at --table and --region.';
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return `There are no credentials for AWS (AWS_PROFILE, aws sso login, or AWS_ACCESS_KEY_ID): ${message}`;
  }
  if (REFUSED.test(name)) return `AWS refuses these credentials: ${message}`;
  if (UNREACHABLE.test(name) || UNREACHABLE.test(code ?? '')) {
    return `DynamoDB does not answer (${message || code}): try again, which also tells whether a change was made.`;
  }
  return undefined;
}
