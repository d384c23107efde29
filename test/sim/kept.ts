// Seeds in which something once broke, with the first line of what: run first ever after.

import { readFileSync, writeFileSync } from 'node:fs';

export type Kept = { readonly seed: number; readonly why: string };

const file = new URL('seeds.json', import.meta.url);
const columns = 100;

export function keptSeeds(from: URL | string = file): Kept[] {
  return JSON.parse(readFileSync(from, 'utf8')) as Kept[];
}

/** Those of before, and the new ones behind them. */
export function withFound(before: readonly Kept[], found: readonly Kept[]): Kept[] {
  const known = new Set(before.map(({ seed }) => seed));
  const fresh = found.filter(({ seed }) => !known.has(seed));
  return [...before, ...fresh.sort((one, other) => one.seed - other.seed)];
}

/** As the formatter leaves it. */
export function textOf(all: readonly Kept[]): string {
  const entries = all.map(({ seed, why }, at) => {
    const fields = [`"seed": ${seed}`, `"why": ${JSON.stringify(why)}`];
    const line = `  { ${fields.join(', ')} }`;
    const fits = line.length + (at < all.length - 1 ? 1 : 0) <= columns;
    return fits ? line : `  {\n    ${fields.join(',\n    ')}\n  }`;
  });
  return `[\n${entries.join(',\n')}\n]\n`;
}

export function keep(found: readonly Kept[], into: URL | string = file): void {
  if (found.length > 0) writeFileSync(into, textOf(withFound(keptSeeds(into), found)));
}
