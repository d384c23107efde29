// Work on many things, only so many of them at once.

/** `most` at once, results in order; the first failure is thrown after those under way. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const failures: unknown[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [at, item] of queue) {
      if (failures.length > 0) return;
      await work(item).then(
        (result) => {
          results[at] = result;
        },
        (error: unknown) => failures.push(error),
      );
    }
  };
  await Promise.all(Array.from({ length: most }, lane));
  if (failures.length > 0) throw failures[0];
  return results;
}
