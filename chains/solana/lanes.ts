// So much of one kind at once and no more, first come first served.

export type Lanes = <T>(work: () => Promise<T>) => Promise<T>;

export function lanes(most: number): Lanes {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (busy < most) busy += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
}
