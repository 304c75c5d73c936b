import { createHash, createHmac } from 'node:crypto';
import { SignatureV4, type SignatureV4Init } from '@smithy/signature-v4';
import { type Environment, required } from '../environment.ts';

/** How long (ms) a request that is signed here may take, its answer included. */
export const REQUEST_TIMEOUT = 10_000;

/** The region of a function. */
export const regionOf = ({ AWS_REGION = 'us-east-1' }: Environment): string => AWS_REGION;

/** Signs requests to a service of AWS with the credentials of the function, for services whose client is not bundled. */
export const signerFor = (
  service: string,
  environment: Environment,
  options: Partial<Pick<SignatureV4Init, 'uriEscapePath' | 'applyChecksum'>> = {},
): SignatureV4 =>
  new SignatureV4({
    service,
    region: regionOf(environment),
    credentials: {
      accessKeyId: required(environment, 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: required(environment, 'AWS_SECRET_ACCESS_KEY'),
      ...(environment.AWS_SESSION_TOKEN !== undefined && { sessionToken: environment.AWS_SESSION_TOKEN }),
    },
    sha256: Sha256,
    ...options,
  });

/** SHA-256 of the platform, in the shape in which `SignatureV4` wants it. */
class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bufferOf(secret));
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bufferOf(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  /** The signer makes a new one each time. */
  reset(): void {
    throw new Error('a digest is used once');
  }
}

const bufferOf = (data: string | ArrayBuffer | ArrayBufferView): Uint8Array =>
  typeof data === 'string'
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
