// Stand-ins for functions that Node 20 and browsers of early 2023 lack, shared by the SDK and the
// chains. The build of the package (scripts/tarballs.ts) refuses whatever else those engines
// lack.

export type Resolvers<T> = {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
};

/** `Promise.withResolvers` of ES2024. */
export function withResolvers<T>(): Resolvers<T> {
  let resolve!: Resolvers<T>['resolve'];
  let reject!: Resolvers<T>['reject'];
  const promise = new Promise<T>((...ways) => {
    [resolve, reject] = ways;
  });
  return { promise, resolve, reject };
}

/** `Map.groupBy` of ES2024. */
export function groupBy<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
