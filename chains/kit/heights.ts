// Heights found by halves.

/** The first from `from` on, below `to`, of which it is true; `to` where it is of none. */
export async function firstHeight(
  from: number,
  to: number,
  is: (height: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
