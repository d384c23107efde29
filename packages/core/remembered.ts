// The results of a pure function are kept for callers that ask the same again: points of curves
// cost a millisecond each, and the escrows of a swap are asked for by every pass, build and check.

/**
 * The limit for each function: some hundred bytes each, and more than the open swaps of a busy
 * hour.
 */
const mostRemembered = 1_000;

/**
 * `work`, asked once for each text while the newest `most` are kept. An exception is not kept. The
 * caller must not write to the result.
 */
export function remembered<Made>(
  work: (text: string) => Made,
  most: number = mostRemembered,
): (text: string) => Made {
  const kept = new Map<string, Made>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = work(text);
    const oldest = kept.size < most ? undefined : kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(text, made);
    return made;
  };
}
