import type { Send } from '../../shared/table/table.ts';
import { noteCommand } from './grants.ts';

interface Call {
  readonly action: string;
  /** 1 + the depth of the deepest call that had ended before this one began. */
  readonly depth: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

type Capacity = { CapacityUnits?: number; ReadCapacityUnits?: number; WriteCapacityUnits?: number };

const READS = /^(BatchGet|Get|Query|TransactGet)/;

/** Whether a number of the log is given back. That happens beside the request: what begins after it did not wait for it. */
const isRelease = ({ Item }: Readonly<Record<string, unknown>>): boolean =>
  (Item as { readonly kind?: unknown } | undefined)?.kind === 'tombstone';

/**
 * Counts what a request asks of DynamoDB. Round trips are sequential ones: calls that overlap count once, a call
 * that began after another had ended counts on top of it.
 */
export class Meter {
  calls: Call[] = [];
  #ended = 0;
  /** How often it was reset: what was under way then, for a request that was refused before, no longer counts. */
  #resets = 0;

  /** Puts the meter between the table and the store. */
  around(send: Send): Send {
    return async (command) => {
      const { input } = command as { input: Record<string, unknown> };
      input.ReturnConsumedCapacity = 'INDEXES';
      noteCommand(command);
      const depth = this.#ended + 1;
      const resets = this.#resets;
      const action = command.constructor.name.replace(/Command$/, '');
      let capacities: Capacity[] = [];
      try {
        const output = (await send(command)) as { ConsumedCapacity?: Capacity | Capacity[] };
        capacities = [output.ConsumedCapacity ?? []].flat();
        return output;
      } finally {
        if (resets === this.#resets) {
          if (!isRelease(input)) this.#ended = Math.max(this.#ended, depth);
          const total = capacities.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
          const isRead = READS.test(action);
          this.calls.push({ action, depth, readUnits: isRead ? total : 0, writeUnits: isRead ? 0 : total });
        }
      }
    };
  }

  reset(): void {
    this.calls = [];
    this.#ended = 0;
    this.#resets++;
  }

  get roundTrips(): number {
    return Math.max(0, ...this.calls.map(({ depth }) => depth));
  }

  get writeUnits(): number {
    return this.calls.reduce((sum, { writeUnits }) => sum + writeUnits, 0);
  }

  get readUnits(): number {
    return this.calls.reduce((sum, { readUnits }) => sum + readUnits, 0);
  }
}
