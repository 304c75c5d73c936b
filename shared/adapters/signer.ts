import { SignatureV4, type SignatureV4Init } from '@smithy/signature-v4';
import { type Environment, required } from '../environment.ts';
import { Sha256 } from './sha256.ts';

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
