// All chance of a simulated market: one small generator (sfc32) from one seed. Parts that must not
// disturb each other's draws take a generator of their own with `fork`.

export type Chance = {
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number;
  hits(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  bytes(count: number): Uint8Array;
  hex(count: number): string;
  fork(): Chance;
};

/** 32 bits at a time; passes PractRand to a terabyte (C. Doty-Humphrey). */
function sfc32(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = seed >>> 0;
  let c = Math.floor(seed / 2 ** 32) >>> 0;
  let d = 1;
  const next = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 16; round += 1) next();
  return next;
}

export function chanceOf(seed: number): Chance {
  const next = sfc32(seed);
  const int = (least: number, most: number) =>
    least >= most ? least : least + Math.floor((next() / 2 ** 32) * (most - least + 1));
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => next() & 255);
  return {
    int,
    hits: (probability) => next() / 2 ** 32 < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[int(0, items.length - 1)] as (typeof items)[number];
    },
    bytes,
    hex: (count) => Buffer.from(bytes(count)).toString('hex'),
    fork: () => chanceOf(next()),
  };
}
