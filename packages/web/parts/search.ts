// Rows that a person looks for: each typed word stands somewhere in what is said of the row. Pure.

export function hasWords(said: string, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = said.toLowerCase();
  return words.every((word) => lower.includes(word));
}
