import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, most of them since they start the whole service. A file that is not here is short. */
const LONGEST = [
  'local/start',
  'exports/worker',
  'pages/browser',
  'clients/zulip-js',
  'fuzz/gateway',
  'messages/ends',
  'state/people',
  'workers/mail-formats',
  'infra/stack',
  'messages/update-rest',
  'workers/retention-steps',
  'domain/unread',
  'users/deactivate',
  'messages/list-cost',
  'messages/late-index',
  'userGroups/create-large',
  'invites/join',
  'push/faults',
  'log/oracle',
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
