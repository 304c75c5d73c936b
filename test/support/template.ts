import { readFileSync } from 'node:fs';

/** A value of a template: JSON, in which an object with one key may be an intrinsic function. */
export type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

export interface Resource<P = Readonly<Record<string, Value>>> {
  readonly Type: string;
  readonly Properties: P;
  readonly Metadata?: Readonly<Record<string, Value>>;
  readonly DeletionPolicy?: string;
}

export interface FunctionProperties {
  readonly FunctionName: string;
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly Role: Value;
  readonly ReservedConcurrentExecutions?: number;
  readonly RecursiveLoop?: string;
  readonly LoggingConfig?: { readonly LogGroup: Value };
  readonly Environment?: { readonly Variables: Readonly<Record<string, Value>> };
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: Value;
  readonly Condition?: Value;
}

interface RoleProperties {
  readonly ManagedPolicyArns?: readonly Value[];
  readonly Policies: readonly { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }[];
}

/** A logical id without the digits that the CDK puts after the name. */
const nameOf = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

/**
 * A value as text, much as `Fn::Sub` writes it: a reference is `${Name}`, an attribute `${Name.Attribute}`.
 * Throws at any other intrinsic function, since the local cloud resolves no others.
 */
export const textOf = (value: Value): string => {
  if (typeof value !== 'object') return String(value);
  const [[key, argument] = ['nothing', ''], ...others] = Object.entries(value);
  if (others.length > 0) throw new Error(`Not an intrinsic function: ${JSON.stringify(value)}.`);
  switch (key) {
    case 'Ref':
      return `\${${nameOf(String(argument))}}`;
    case 'Fn::GetAtt': {
      const [logicalId = '', attribute] = argument as readonly string[];
      return `\${${nameOf(logicalId)}.${attribute}}`;
    }
    case 'Fn::Sub':
      return String(argument).replaceAll(/\$\{(\w+)/g, (_, name: string) => `\${${nameOf(name)}`);
    case 'Fn::Join': {
      const [separator, parts] = argument as readonly [string, readonly Value[]];
      return parts.map(textOf).join(separator);
    }
    default:
      throw new Error(`The local cloud does not know ${key}.`);
  }
};

const listOf = (value: Value): readonly Value[] =>
  Array.isArray(value) ? value : [value as Exclude<Value, readonly Value[]>];

/** A synthesized template, asked for what the tests want to know. Names are logical ids without their digits. */
export class Template {
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, { readonly Value: Value }>>;

  constructor(file: string) {
    const { Resources, Outputs } = JSON.parse(readFileSync(file, 'utf8'));
    this.resources = Resources;
    this.outputs = Outputs;
  }

  /** All resources of a type, by name. */
  all<P>(type: string): ReadonlyMap<string, Resource<P>> {
    const found = Object.entries(this.resources).filter(([, it]) => it.Type === type);
    return new Map(
      found.map(([logicalId, it]) => [nameOf(logicalId), it as Resource<unknown> as Resource<P>]),
    );
  }

  /** One resource of a type: the one with this name, or the only one. */
  the<P = Readonly<Record<string, Value>>>(type: string, name?: string): Resource<P> {
    const found = [...this.all<P>(type)].filter(([its]) => name === undefined || its === name);
    const [[, resource] = [], ...others] = found;
    if (!resource || others.length > 0)
      throw new Error(`Not one ${type} ${name ?? ''}, but ${found.length}.`);
    return resource;
  }

  /** The name and the resource of a declaration's function. */
  functionOf(id: string): readonly [string, Resource<FunctionProperties>] {
    const named = `Parlance-${id.replace('.', '-')}`;
    const all = [...this.all<FunctionProperties>('AWS::Lambda::Function')];
    const found = all.find(([, it]) => it.Properties.FunctionName === named);
    if (!found) throw new Error(`No function for ${id}.`);
    return found;
  }

  /** All that a declaration's function may do, as lines `action on resource`, in alphabetical order. */
  grantsOf(id: string): string[] {
    const [, { Properties: lambda }] = this.functionOf(id);
    const [, name = ''] = /^\$\{(.*)\.Arn\}$/.exec(textOf(lambda.Role)) ?? [];
    return this.grantsOfRole(name);
  }

  /** All that the role of this name allows, in the same way. */
  grantsOfRole(id: string): string[] {
    const role = this.the<RoleProperties>('AWS::IAM::Role', id).Properties;
    if (role.ManagedPolicyArns) throw new Error(`${id} has a managed policy.`);
    const statements = role.Policies.flatMap((policy) => policy.PolicyDocument.Statement);
    return statements
      .flatMap(({ Effect, Action, Resource, Condition }) => {
        if (Effect !== 'Allow') throw new Error(`${id} has a statement with the effect ${Effect}.`);
        const resources = listOf(Resource).map(textOf);
        const only = Condition === undefined ? '' : ` if ${JSON.stringify(Condition)}`;
        return listOf(Action).flatMap((action) =>
          resources.map((resource) => `${action} on ${resource}${only}`),
        );
      })
      .sort();
  }
}
