import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, most of them since they start the whole service. A file that is not here is short. */
const LONGEST = [
  'exports/worker',
  'pages/browser',
  'local/start',
  'costs/round-trips',
  'events/listener',
  'state/people',
  'clients/zulip-js',
  'fuzz/gateway',
  'infra/stack',
  'infra/room',
  'workers/retention-steps',
  'push/faults',
  'log/oracle',
  'events/register-large',
  'fuzz/log',
  'messages/ends',
  'messages/list-cost',
  'messages/update-rest',
  'domain/unread',
  'messages/list-narrow-oracle',
  'messages/late-index',
  'userGroups/create-large',
];

/** Begins with the files that take longest, so that none of them is still under way when all others are done. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
