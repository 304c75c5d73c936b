import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { readSchedule } from '../../infra/local/schedule-expression.ts';
import { discard, type SampleCloud, startSampleCloud, temporaryFolder } from './sample-cloud.ts';
import type { Sample } from './sample-template.ts';

describe('a schedule', () => {
  const friday = Date.parse('2026-11-20T11:05:30Z');
  test.each([
    ['rate(1 minute)', '2026-11-20T11:06:30.000Z'],
    ['rate(5 minutes)', '2026-11-20T11:10:30.000Z'],
    ['rate(2 hours)', '2026-11-20T13:05:30.000Z'],
    ['rate(1 day)', '2026-11-21T11:05:30.000Z'],
    ['cron(* * * * ? *)', '2026-11-20T11:06:00.000Z'],
    ['cron(0/15 * * * ? *)', '2026-11-20T11:15:00.000Z'],
    ['cron(5 11 * * ? *)', '2026-11-21T11:05:00.000Z'],
    ['cron(0 3 * * ? *)', '2026-11-21T03:00:00.000Z'],
    ['cron(0 8-10 ? * MON-FRI *)', '2026-11-23T08:00:00.000Z'],
    ['cron(30 23 ? * 6 *)', '2026-11-20T23:30:00.000Z'],
    ['cron(0 0 1 JAN,JUL ? *)', '2027-01-01T00:00:00.000Z'],
    ['cron(0 0 31 * ? *)', '2026-12-31T00:00:00.000Z'],
    ['cron(0 0 29 2 ? *)', '2028-02-29T00:00:00.000Z'],
    ['cron(0 12 ? * * 2030)', '2030-01-01T12:00:00.000Z'],
  ])('%s fires next at %s', (expression, expected) => {
    expect(new Date(readSchedule(expression)(friday)).toISOString()).toBe(expected);
  });

  test('without a future time does not fire', () => {
    expect(readSchedule('cron(0 0 1 1 ? 2020)')(friday)).toBe(Number.POSITIVE_INFINITY);
    expect(readSchedule('cron(0 0 30 2 ? *)')(friday)).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    'rate(0 minutes)',
    'rate(5 seconds)',
    'cron(0 3 * * ?)',
    'cron(60 * * * ? *)',
    'cron(0 0 L * ? *)',
    'at(x)',
  ])('%s is refused', (expression) => {
    expect(() => readSchedule(expression)).toThrow(`cannot read the schedule ${expression}`);
  });
});

describe('a rule', () => {
  const clouds: SampleCloud[] = [];
  afterAll(() => Promise.all(clouds.map(discard)));

  const ruleOf = (folder: string, permitted = true): Sample => ({
    functions: { keeper: { code: 'consumer', environment: { NOTES: join(folder, 'notes') } } },
    resources: {
      Hourly: {
        Type: 'AWS::Events::Rule',
        Properties: {
          ScheduleExpression: 'rate(1 hour)',
          State: 'ENABLED',
          Targets: [{ Id: 'Target0', Arn: { 'Fn::GetAtt': ['keeper', 'Arn'] } }],
        },
      },
      ...(permitted && {
        Permission: {
          Type: 'AWS::Lambda::Permission',
          Properties: {
            FunctionName: { Ref: 'keeper' },
            Principal: 'events.amazonaws.com',
            SourceArn: { 'Fn::GetAtt': ['Hourly', 'Arn'] },
          },
        },
      }),
    },
  });
  const eventsOf = async (folder: string) =>
    (await readFile(join(folder, 'notes'), 'utf8').catch(() => ''))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  test('fires at its time, counted from the last time, even before a restart', async () => {
    const folder = await temporaryFolder();
    const almostAnHour = 3_600_000 - 300;
    await writeFile(join(folder, 'schedules.json'), JSON.stringify({ Hourly: Date.now() - almostAnHour }));
    clouds.push(await startSampleCloud(ruleOf(folder), folder));
    expect(await eventsOf(folder)).toEqual([]);
    const [event] = await vi.waitFor(async () => {
      const events = await eventsOf(folder);
      expect(events).toHaveLength(1);
      return events;
    }, 30_000);
    expect(event).toMatchObject({
      source: 'aws.events',
      'detail-type': 'Scheduled Event',
      account: '000000000000',
      region: 'us-east-1',
      resources: ['arn:aws:events:us-east-1:000000000000:rule/Hourly'],
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      detail: {},
    });
    const { Hourly } = JSON.parse(await readFile(join(folder, 'schedules.json'), 'utf8'));
    expect(Date.now() - Hourly).toBeLessThan(3000);
  });

  test('fires once for all the times that it missed', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'schedules.json'), JSON.stringify({ Hourly: Date.now() - 50 * 3_600_000 }));
    clouds.push(await startSampleCloud(ruleOf(folder), folder));
    await vi.waitFor(async () => expect(await eventsOf(folder)).toHaveLength(1), 30_000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await eventsOf(folder)).toHaveLength(1);
  });

  test('needs the permission to invoke its function', async () => {
    const folder = await temporaryFolder();
    await expect(startSampleCloud(ruleOf(folder, false), folder)).rejects.toThrow(
      'The rule Hourly has no permission to invoke keeper.',
    );
  });
});
