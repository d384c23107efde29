// Reading ahead: the next few of a list while one is worked on, each handed on in its turn.

/**
 * The result of `read` for each item, in the order of the items. At most `most` are read, or wait
 * for their turn, at once. Throws the first failure in that order. A caller that stops early aborts
 * the rest.
 */
export async function* readAhead<Item, Read>(
  items: readonly Item[],
  most: number,
  read: (item: Item, signal: AbortSignal) => Promise<Read>,
  signal: AbortSignal,
): AsyncGenerator<Read, void> {
  const over = new AbortController();
  const within = AbortSignal.any([signal, over.signal]);
  const left = items.values();
  const reading: Promise<Read>[] = [];
  const begin = () => {
    const { done, value } = left.next();
    if (done) return;
    const one = read(value, within);
    // Its failure is told in its turn, or by nobody.
    one.catch(() => {});
    reading.push(one);
  };
  try {
    for (let begun = 0; begun < most; begun += 1) begin();
    for (;;) {
      const next = reading.shift();
      if (next === undefined) return;
      const found = await next;
      begin();
      yield found;
    }
  } finally {
    over.abort();
  }
}
