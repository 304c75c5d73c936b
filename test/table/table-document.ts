import { tableSchema } from '../../infra/table-schema.ts';
import { type ItemName, indexes, itemKinds } from '../../shared/table/keys.ts';
import { keyDescriptions } from './key-descriptions.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The key map as the page `shared/table/TABLE.md` shows it. */
export function tableDocument(): string {
  const rows = Object.entries(itemKinds).map(
    ([name, { pk, sk }]) =>
      `| ${name} | \`${pk}\` | \`${sk}\` | ${cell(keyDescriptions[name as ItemName])} |`,
  );
  const carried = tableSchema.indexes.map(
    ({ name, key }) =>
      `| ${name} | \`${key.partition}\`, \`${key.sort}\` | ${tableSchema.includes.join(', ')} |`,
  );
  return [
    '# The table',
    '',
    'Made from `keys.ts` and `test/table/key-descriptions.ts` by `npm run table`; a test keeps the two the same. `{name}` is text, escaped so',
    'that it never holds a `/`; `{name:n}` is a number, padded so that text order is number order.',
    '',
    'On every item `v` is the version of its shape, and none is the first: `shared/model/realm/realm.ts` has the others.',
    '',
    '| item | partition key | sort key | what it is |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    `Indexes over messages (${Object.keys(indexes).length}), both in id order. An item without the key is not in the index.`,
    '',
    '| index | keys | carries besides its keys |',
    '| --- | --- | --- |',
    ...carried,
    '',
  ].join('\n');
}
