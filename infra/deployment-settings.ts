import type { Node } from 'constructs';
import { getEvents } from '../shared/endpoints/events.ts';
import { checkSecretNames, SECRET_NAME } from './secret-names.ts';

/** A setting of the deployment that functions do not read. */
interface DeploymentSetting {
  /** Its meaning, for the table in `DEPLOY.md`. */
  readonly description: string;
  /** The value if it is not set; without a default it is then absent. */
  readonly otherwise?: string;
  /** The form of a valid value. */
  readonly matches: RegExp;
}

const HOST = String.raw`(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?`;
const ORIGIN = String.raw`https?://[^\s,/*]+`;

/** At least ten, the minimum of WAF. */
const COUNT = /^[1-9]\d{1,7}$/;

/** From 128 to 10240, the megabytes that Lambda gives a function. */
const MEMORY = /^(12[89]|1[3-9]\d|[2-9]\d\d|[1-9]\d{3}|10[01]\d\d|102[0-3]\d|10240)$/;

/** Short enough for the names that contain it: those of functions and sampling rules have the lowest limits. */
const STACK_NAME = /^(?=.{1,28}$)[A-Za-z](-?[A-Za-z0-9])*$/;

/** The numbers of days that CloudWatch takes. */
const retentions = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

/** Every such setting, by the value of CDK context that gives it. */
export const deploymentSettings = {
  stackName: {
    description:
      'what the stack is called, and with it all that needs a name; a second one in a region needs another',
    otherwise: 'Parlance',
    matches: STACK_NAME,
  },
  domain: {
    description: 'hosts at which clients find the service, separated by commas; the first one is its address',
    matches: new RegExp(`^${HOST}(,${HOST})*$`),
  },
  certificateArn: {
    description: 'the certificate for these hosts, in ACM of us-east-1, as CloudFront wants it',
    matches: /^arn:aws[\w-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
  },
  corsOrigins: {
    description: 'origins whose pages may call the API from a browser, separated by commas',
    matches: new RegExp(`^${ORIGIN}(,${ORIGIN})*$`),
  },
  logRetentionDays: {
    description: 'for how many days logs are kept (a number of days that CloudWatch knows)',
    otherwise: '30',
    matches: new RegExp(`^(${retentions.join('|')})$`),
  },
  requestsPerSecond: {
    description:
      'how many requests each method of the API lets through; what takes long gets a tenth of that',
    otherwise: '500',
    matches: COUNT,
  },
  pollConcurrency: {
    description: 'how many functions are reserved for clients that wait for events; `none` reserves nothing',
    // A new account may run 10 functions at once, and can reserve none of them.
    otherwise: 'none',
    matches: /^(none|[1-9]\d{0,4})$/,
  },
  wait: {
    description:
      'where clients wait for events: `web` holds many of them in one Lambda Web Function, `function` each in a function',
    otherwise: 'web',
    matches: /^(web|function)$/,
  },
  pollMemory: {
    description: 'the memory (MB) of the function in which a client waits, where each waits in a function',
    otherwise: String(getEvents.memory),
    matches: MEMORY,
  },
  alarmEmail: {
    description: 'the address that is told of alarms, after a mail that asks whether it wants to be',
    matches: /^[^\s@,]+@[^\s@,]+$/,
  },
  pushRelaySecretName: {
    description: 'what the secret with our key at the push relay is called in Secrets Manager',
    otherwise: 'Parlance/push-relay-org-key',
    matches: SECRET_NAME,
  },
  zoomSecretName: {
    description: 'what the secret of our application at Zoom is called there',
    otherwise: 'Parlance/zoom-client-secret',
    matches: SECRET_NAME,
  },
  webexSecretName: {
    description: 'what the secret of our application at Webex is called there',
    otherwise: 'Parlance/webex-client-secret',
    matches: SECRET_NAME,
  },
  bigBlueButtonSecretName: {
    description: 'what the secret of the BigBlueButton server is called there',
    otherwise: 'Parlance/big-blue-button-secret',
    matches: SECRET_NAME,
  },
  oidcSecretName: {
    description: 'what the secret of our application at the provider of single sign-on is called there',
    otherwise: 'Parlance/oidc-client-secret',
    matches: SECRET_NAME,
  },
  addressLimit: {
    description: 'how many requests one address may make in five minutes; makes a web ACL (WAF)',
    matches: COUNT,
  },
} as const satisfies Readonly<Record<string, DeploymentSetting>>;

type Name = keyof typeof deploymentSettings;

/** A setting with a default is always there. */
type Values = {
  readonly [N in Name]: (typeof deploymentSettings)[N] extends { readonly otherwise: string }
    ? string
    : string | undefined;
};

/** The settings of the operator, parsed. */
export interface Deployment {
  readonly stackName: string;
  /** The hosts of the service and their certificate; without them CloudFront gives it a host. */
  readonly domain:
    | { readonly hosts: readonly [string, ...string[]]; readonly certificateArn: string }
    | undefined;
  readonly corsOrigins: readonly string[];
  readonly logRetentionDays: number;
  readonly requestsPerSecond: number;
  readonly pollConcurrency: number | undefined;
  readonly wait: 'web' | 'function';
  /** MB. */
  readonly pollMemory: number;
  readonly alarmEmail: string | undefined;
  /** What secrets are called in Secrets Manager, by the names that declarations use. */
  readonly secretNames: ReadonlyMap<string, string>;
  /** Requests from one address in five minutes; without a limit there is no web ACL. */
  readonly addressLimit: number | undefined;
}

/**
 * Reads the settings from CDK context (`-c domain=chat.example.com`).
 *
 * @throws Error with the first invalid value, so that it is not deployed
 */
export function deploymentOf(node: Pick<Node, 'tryGetContext'>): Deployment {
  const values = Object.fromEntries(
    Object.entries<DeploymentSetting>(deploymentSettings).map(([name, { otherwise, matches }]) => {
      const given: unknown = node.tryGetContext(name);
      const value = given === undefined || given === '' ? otherwise : String(given);
      if (value !== undefined && !matches.test(value)) {
        throw new Error(`The context value ${name} cannot be "${value}".`);
      }
      return [name, value];
    }),
  ) as Values;
  return {
    stackName: values.stackName,
    domain: domainOf(values),
    corsOrigins: values.corsOrigins?.split(',') ?? [],
    logRetentionDays: Number(values.logRetentionDays),
    requestsPerSecond: Number(values.requestsPerSecond),
    pollConcurrency: values.pollConcurrency === 'none' ? undefined : Number(values.pollConcurrency),
    wait: values.wait === 'function' ? 'function' : 'web',
    pollMemory: Number(values.pollMemory),
    alarmEmail: values.alarmEmail,
    secretNames: secretNamesOf(values),
    addressLimit: values.addressLimit === undefined ? undefined : Number(values.addressLimit),
  };
}

function secretNamesOf(values: Values): Deployment['secretNames'] {
  const settings = {
    'push-relay-org-key': 'pushRelaySecretName',
    'zoom-client-secret': 'zoomSecretName',
    'webex-client-secret': 'webexSecretName',
    'big-blue-button-secret': 'bigBlueButtonSecretName',
    'oidc-client-secret': 'oidcSecretName',
  } as const satisfies Readonly<Record<string, Name>>;
  const names = Object.entries(settings).map(([secret, setting]) => {
    const isDefault = values[setting] === deploymentSettings[setting].otherwise;
    return {
      secret,
      setting,
      isDefault,
      name: isDefault ? `${values.stackName}/${secret}` : values[setting],
    };
  });
  checkSecretNames(names);
  return new Map(names.map(({ secret, name }) => [secret, name]));
}

function domainOf({ domain, certificateArn }: Values): Deployment['domain'] {
  if (domain === undefined && certificateArn === undefined) return undefined;
  if (domain === undefined || certificateArn === undefined) {
    throw new Error('The context values domain and certificateArn need each other.');
  }
  const [first = '', ...others] = domain.split(',');
  if (first.startsWith('*'))
    throw new Error('The first host of the context value domain cannot be a wildcard.');
  return { hosts: [first, ...others], certificateArn };
}
