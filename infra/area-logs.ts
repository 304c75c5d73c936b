import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

/** The area of a function, which is its folder in `functions/`: `messages` of `messages.send`, `workers` of any worker. */
export const areaOf = (id: string): string => (id.includes('.') ? id.slice(0, id.indexOf('.')) : 'workers');

/** A name with hyphens in upper camel case. */
export const upperCamel = (name: string): string =>
  name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());

/**
 * One log group for the functions of each area, such as `/Parlance/messages`. The names of its log streams contain the
 * function's name, so a group for each function would only cost more resources.
 */
export class AreaLogs extends Construct {
  readonly #groups = new Map<string, LogGroup>();
  readonly #retentionDays: number;

  constructor(scope: Construct, id: string, retentionDays: number) {
    super(scope, id);
    this.#retentionDays = retentionDays;
  }

  /** The log group of a function, by the id of its declaration. */
  groupOf(id: string): LogGroup {
    const area = areaOf(id);
    const known = this.#groups.get(area);
    if (known) return known;
    const group = new LogGroup(this, upperCamel(area), {
      logGroupName: `/${Stack.of(this).stackName}/${area}`,
      retention: this.#retentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#groups.set(area, group);
    return group;
  }
}

/** Lets a function write to a log group. */
export const writingLogs = (sid: string, group: LogGroup): PolicyStatement =>
  new PolicyStatement({
    sid,
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [group.logGroupArn],
  });
