/** The content type of files that are neither recognized nor named. */
const BYTES = 'application/octet-stream';

/**
 * The types that browsers show in place (companion facts 1.4). Nothing that can hold a script of its own is among them.
 */
const INLINE = new Set([
  'application/pdf',
  'text/plain',
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/wav',
  'audio/webm',
  'image/apng',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'video/mp4',
  'video/quicktime',
  'video/webm',
]);

/** Whether a browser may show a file of this type in place. */
export const isShownInline = (contentType: string): boolean => INLINE.has(contentType);

/** A type without parameters, as RFC 9110 spells it. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;

/** Types by the ends of names, for files without a type of their own. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Types by the beginning of a file, of all that are shown inline and begin with something. */
const BY_BEGINNING: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^\x89PNG\r\n.\n/s, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^RIFF.{4}WAVE/s, 'audio/wav'],
  [/^%PDF-/, 'application/pdf'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
  [/^.{4}ftypqt {2}/s, 'video/quicktime'],
  [/^.{4}ftyp(?:hei[cmsx]|hev[cmsx]|mif1|msf1)/s, 'image/heic'],
  [/^.{4}ftypM4[AB] /s, 'audio/mp4'],
  [/^.{4}ftyp/s, 'video/mp4'],
  [/^.\x45\xdf\xa3.{0,40}\x42\x82.webm/s, 'video/webm'],
  [/^fLaC/, 'audio/flac'],
  [/^\xff[\xf0\xf1\xf8\xf9]/, 'audio/aac'],
  [/^(?:ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff])/, 'audio/mpeg'],
];

/** These two containers hold sound or pictures that move; which it is, the client knows. */
const SOUND: Readonly<Record<string, string>> = { 'video/mp4': 'audio/mp4', 'video/webm': 'audio/webm' };

/**
 * The type that a file is stored and served with: what its bytes say, where they say it; else what the client says, unless
 * it names a type that is shown inline and that the bytes would show.
 *
 * @param given the content type of the part, or empty
 */
export function contentTypeOf(bytes: Uint8Array, given: string, name: string): string {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  const text = beginning.toString('latin1');
  const claimed = claimedType(given, name);
  const found = BY_BEGINNING.find(([pattern]) => pattern.test(text))?.[1];
  if (found !== undefined) return SOUND[found] === claimed ? claimed : found;
  return isShownInline(claimed) && claimed !== 'text/plain' ? BYTES : claimed;
}

function claimedType(given: string, name: string): string {
  const type = given.split(';')[0]?.trim().toLowerCase() ?? '';
  if (MEDIA_TYPE.test(type) && type !== BYTES) return type;
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return BY_EXTENSION[extension] ?? BYTES;
}
