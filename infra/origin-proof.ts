import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Logging, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import type { DeploymentTasks } from './deployment-tasks.ts';

const LENGTH = 32;

/**
 * A secret that the deployment makes up for CloudFront and a server behind it, which knows by it who sends a request.
 * Secrets Manager makes it and does not keep it, so that it costs nothing. It stands in no template, output or log.
 */
export const originProof = (tasks: DeploymentTasks): string =>
  tasks
    .add(
      'Proof',
      {
        call: {
          service: 'secrets-manager',
          action: 'GetRandomPassword',
          parameters: { PasswordLength: LENGTH, ExcludePunctuation: true },
          physicalResourceId: PhysicalResourceId.of('proof'),
          outputPaths: ['RandomPassword'],
          logging: Logging.withDataHidden(),
        },
        grants: [
          new PolicyStatement({
            sid: 'MakeProof',
            actions: ['secretsmanager:GetRandomPassword'],
            resources: ['*'],
          }),
        ],
      },
      {
        'AwsSolutions-IAM5[Resource::*]': 'To make up a secret belongs to no resource that could be named.',
        'Serverless-LambdaStarPermissions': 'To make up a secret belongs to no resource that could be named.',
      },
    )
    .getResponseField('RandomPassword');
