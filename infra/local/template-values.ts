/** A resource of a CloudFormation template, as it stands in the file. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export interface CloudFormationTemplate {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

/** The place that the template is deployed to: what CloudFormation's pseudo parameters stand for. */
export interface Place {
  readonly region: string;
  readonly accountId: string;
  /** Where SQS answers, without a slash at the end: queue URLs begin with it. */
  readonly queueEndpoint: string;
}

/** fauxqs knows this one account only, and its ARNs are compared with those of the template. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';

/** What can be asked of the resources of one type: `ref` and the attributes, made from the physical name. */
interface ResourceType {
  /** The property that may give the physical name. */
  readonly name?: string;
  readonly attributes: (name: string, place: Place) => Readonly<Record<string, string>>;
}

const arn = (service: string, { region, accountId }: Place, rest: string): string =>
  `arn:aws:${service}:${region}:${accountId}:${rest}`;

const resourceTypes: Readonly<Record<string, ResourceType>> = {
  'AWS::DynamoDB::Table': {
    name: 'TableName',
    attributes: (ref, place) => ({ ref, Arn: arn('dynamodb', place, `table/${ref}`) }),
  },
  'AWS::SQS::Queue': {
    name: 'QueueName',
    attributes: (name, place) => {
      const url = `${place.queueEndpoint}/${place.accountId}/${name}`;
      return { ref: url, QueueUrl: url, QueueName: name, Arn: arn('sqs', place, name) };
    },
  },
  'AWS::S3::Bucket': {
    name: 'BucketName',
    // Bucket names have no capitals, which logical ids have.
    attributes: (name) => ({ ref: name.toLowerCase(), Arn: `arn:aws:s3:::${name.toLowerCase()}` }),
  },
  'AWS::Lambda::Function': {
    name: 'FunctionName',
    attributes: (ref, place) => ({ ref, Arn: arn('lambda', place, `function:${ref}`) }),
  },
  'AWS::IAM::Role': {
    name: 'RoleName',
    attributes: (ref, { accountId }) => ({ ref, Arn: `arn:aws:iam::${accountId}:role/${ref}` }),
  },
  'AWS::IAM::ManagedPolicy': {
    name: 'ManagedPolicyName',
    attributes: (name, { accountId }) => ({ ref: `arn:aws:iam::${accountId}:policy/${name}` }),
  },
  'AWS::Logs::LogGroup': {
    name: 'LogGroupName',
    attributes: (ref, place) => ({ ref, Arn: arn('logs', place, `log-group:${ref}:*`) }),
  },
  'AWS::Events::Rule': {
    name: 'Name',
    attributes: (ref, place) => ({ ref, Arn: arn('events', place, `rule/${ref}`) }),
  },
  'AWS::SecretsManager::Secret': {
    name: 'Name',
    attributes: (name, place) => ({ ref: arn('secretsmanager', place, `secret:${name}`) }),
  },
  'AWS::KMS::Key': {
    attributes: (ref, place) => ({ ref, KeyId: ref, Arn: arn('kms', place, `key/${ref}`) }),
  },
  'AWS::CloudFront::Distribution': {
    attributes: (name) => ({ ref: name.toLowerCase(), DomainName: `${name.toLowerCase()}.localhost` }),
  },
  'AWS::ApiGateway::RestApi': { attributes: (name) => ({ ref: name.toLowerCase() }) },
  'AWS::ApiGateway::Deployment': { attributes: (name) => ({ ref: name.toLowerCase() }) },
  'AWS::ApiGateway::Stage': { name: 'StageName', attributes: (ref) => ({ ref }) },
};

/** Works out the values of a template, as CloudFormation does when it deploys. */
export class TemplateValues {
  readonly #template: CloudFormationTemplate;
  readonly #place: Place;

  constructor(template: CloudFormationTemplate, place: Place) {
    this.#template = template;
    this.#place = place;
  }

  /**
   * The value with every intrinsic function in it worked out.
   *
   * @throws Error naming the function, resource or attribute that the local cloud does not know.
   */
  resolve(value: unknown): unknown {
    if (Array.isArray(value))
      return value.map((item) => this.resolve(item)).filter((item) => item !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const [first, ...others] = Object.entries(value);
    if (first && others.length === 0) {
      const [name, argument] = first;
      if (name === 'Ref') return this.#ref(String(argument));
      if (name.startsWith('Fn::')) return this.#call(name, argument);
    }
    const entries = Object.entries(value).map(([key, item]) => [key, this.resolve(item)] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  }

  /** An attribute of a resource, as `Arn`, or what a reference to it stands for, as `ref`. */
  attribute(logicalId: string, attribute: string): string {
    const resource = this.#template.Resources[logicalId];
    if (!resource) throw new Error(`The template has no resource ${logicalId}.`);
    const type = resourceTypes[resource.Type];
    // Only the name is worked out, as other properties may lead back to this resource. Without a name the resource
    // is called by its logical id, which stays the same from one deployment to the next.
    const name = type?.name === undefined ? undefined : this.resolve(resource.Properties?.[type.name]);
    const value = type?.attributes(String(name ?? logicalId), this.#place)[attribute];
    if (value === undefined) {
      throw new Error(`The local cloud does not know the ${attribute} of ${logicalId} (${resource.Type}).`);
    }
    return value;
  }

  #ref(name: string): string | undefined {
    switch (name) {
      case 'AWS::AccountId':
        return this.#place.accountId;
      case 'AWS::Region':
        return this.#place.region;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::NoValue':
        return undefined;
      default:
        return this.attribute(name, 'ref');
    }
  }

  #call(name: string, argument: unknown): unknown {
    switch (name) {
      case 'Fn::GetAtt': {
        const [logicalId = '', attribute = ''] = Array.isArray(argument)
          ? argument
          : String(argument).split('.', 2);
        return this.attribute(logicalId, attribute);
      }
      case 'Fn::Join': {
        const [separator, parts] = this.resolve(argument) as [string, unknown[]];
        return parts.join(separator);
      }
      case 'Fn::Select': {
        const [index, list] = this.resolve(argument) as [number | string, unknown[]];
        return list[Number(index)];
      }
      case 'Fn::Split': {
        const [separator, text] = this.resolve(argument) as [string, string];
        return text.split(separator);
      }
      case 'Fn::Sub':
        return this.#substitute(argument);
      default:
        throw new Error(`The local cloud cannot work out ${name}.`);
    }
  }

  #substitute(argument: unknown): string {
    const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
    const own = this.resolve(variables) as Record<string, unknown>;
    return String(text).replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (name in own) return String(own[name]);
      return String(
        name.includes('.') && !name.includes('::') ? this.#call('Fn::GetAtt', name) : this.#ref(name),
      );
    });
  }
}
