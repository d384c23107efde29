export function looksLike(symbol: string, curated: readonly string[]): string | null {
  return curated.find((each) => each.toLowerCase() === symbol.toLowerCase()) ?? null;
}
