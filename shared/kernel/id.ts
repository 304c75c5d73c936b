/** Whether a number can be an id at all; others lead nowhere. */
export const isId = (id: number): boolean => Number.isSafeInteger(id) && id > 0 && id < 1e12;
