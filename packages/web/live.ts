// A value that changes, for screens: `useSyncExternalStore(live.subscribe, live.now)`.

export type Live<T> = {
  /** The same object until something changes. */
  now(): T;
  /** Answers how to stop. */
  subscribe(heard: () => void): () => void;
};

export type Held<T> = Live<T> & { set(value: T): void };

export function held<T>(first: T): Held<T> {
  let value = first;
  const hearing = new Set<() => void>();
  return {
    now: () => value,
    subscribe: (heard) => {
      hearing.add(heard);
      return () => hearing.delete(heard);
    },
    set: (next) => {
      if (next === value) return;
      value = next;
      for (const heard of hearing) heard();
    },
  };
}
