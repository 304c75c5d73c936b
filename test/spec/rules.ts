import { channels } from './channels.ts';
import { general } from './general.ts';
import { messages } from './messages.ts';
import { organization } from './organization.ts';
import { resources } from './resources.ts';

/** A rule of the specification. Tests that prove it have `(4.2/is_private)` in their titles, or a list of such ids. */
export interface Rule {
  readonly id: string;
  readonly says: string;
  /** The rules that say the same, in other places. */
  readonly restates: readonly string[];
}

/** Every rule of sections 2 to 9, in their order. */
export const rules: readonly Rule[] = [resources, messages, channels, organization, general]
  .flat()
  .flatMap(({ section, rules }) =>
    Object.entries(rules).map(([name, rule]) => {
      const [says, ...restates] = typeof rule === 'string' ? [rule] : rule;
      return { id: `${section}/${name}`, says, restates };
    }),
  );
