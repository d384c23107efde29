// How often a property is tried: as its test says, or so many times that in `npm run soak`.

const times = Number(process.env.PARLEY_TEST_TIMES ?? 1);

export function runs(usual: number): number {
  return usual * times;
}
