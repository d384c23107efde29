// Each thing that is begun is ended, last first, also where a program begins no further.

/** Things to end, in the order in which they were begun. */
export type Undo = (() => unknown)[];

export async function unwound(undo: Undo): Promise<void> {
  for (const step of undo.splice(0).toReversed()) await step();
}

/** If `begin` throws, all that it began is ended. */
export async function guarded<T>(undo: Undo, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    await unwound(undo);
    throw error;
  }
}
