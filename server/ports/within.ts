// A wait for somebody else's answer that ends.

/** null: it takes longer. It goes on unheard, and so does its failure from then on. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
