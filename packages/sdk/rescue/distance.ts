// How far a word is from another one, for whoever mistyped it.

/** Letters to put in, leave out or change (Levenshtein). */
export function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const [left = 0, up = 0, before = 0] = [next[at - 1], row[at], row[at - 1]];
      next.push(Math.min(left + 1, up + 1, before + (to[at - 1] === letter ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
