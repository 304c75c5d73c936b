/** The type of a `Content-Type` or the first type of an `Accept`, in lower case and without its parameters. */
export const mediaType = (header: string | undefined): string =>
  (header ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? '';

/**
 * Whether an API treats a media type as bytes. Its list may have wildcards: any type, or any of one family. An invalid
 * type matches none of them.
 */
export const isBinary = (type: string, binaryMediaTypes: readonly string[]): boolean =>
  /^[^\s/]+\/[^\s/]+$/.test(type) &&
  binaryMediaTypes.some(
    (binary) =>
      binary === '*/*' || binary === type || (binary.endsWith('/*') && type.startsWith(binary.slice(0, -1))),
  );
