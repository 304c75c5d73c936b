import * as z from 'zod/mini';

/** A narrow as a parameter: conditions as pairs or objects, with operands that are a text, an integer or a list. */
export const narrowOf = <I extends z.core.$ZodType>(inList: I) => {
  const operand = z.union([z.string(), z.int(), z.array(inList)]);
  const term = z.object({ operator: z.string(), operand, negated: z.optional(z.boolean()) });
  return z.nullable(z.array(z.union([z.tuple([z.string(), operand]), term])).check(z.maxLength(50)));
};
