import * as z from 'zod/mini';
import { badRequest } from '../../kernel/errors.ts';
import type { Submessage } from '../../model/message/object.ts';

/** Most options that one person adds to a poll, and most tasks to a list: clients number them. */
const index = z.int().check(z.minimum(0), z.maximum(1_000));

/** What a submessage to a poll or a to-do list may hold. */
const shapes: Readonly<Record<string, Readonly<Record<string, z.ZodMiniType>>>> = {
  poll: {
    vote: z.object({ key: z.string(), vote: z.literal([1, -1]) }),
    new_option: z.object({ idx: index, option: z.string() }),
    question: z.object({ question: z.string() }),
  },
  todo: {
    new_task: z.object({
      key: index,
      task: z.string(),
      desc: z.string(),
      completed: z.optional(z.boolean()),
    }),
    strike: z.object({ key: z.string() }),
    new_task_list_title: z.object({ title: z.string() }),
  },
};

/** What only the sender of the message may change. */
const ONLY_SENDER = new Set(['question', 'new_task_list_title']);

const typed = z.object({ type: z.string() });
const widget = z.object({ widget_type: z.string() });

/**
 * Checks data for the widget that the first submessage of the message describes. Any data may follow a widget of another
 * type.
 *
 * @throws `BAD_REQUEST` if the widget does not know it, or if only the sender may send it
 */
export function checkWidgetData(first: Submessage | undefined, data: unknown, isSender: boolean): void {
  const described = widget.safeParse(first === undefined ? undefined : JSON.parse(first.content));
  if (!described.success) return;
  const known = new Map(Object.entries(shapes)).get(described.data.widget_type);
  if (known === undefined) return;
  const type = typed.safeParse(data).data?.type ?? '';
  const shape = new Map(Object.entries(known)).get(type);
  if (shape === undefined || !shape.safeParse(data).success) {
    throw badRequest(`'content' is not valid for a ${described.data.widget_type}.`);
  }
  if (ONLY_SENDER.has(type) && !isSender) {
    throw badRequest('Only the sender of the message can change its question or title.');
  }
}
