// A list of the market, read page by page up to a limit.

export type PageRead<T = unknown> = (
  cursor: string | undefined,
  signal: AbortSignal,
) => Promise<{ readonly rows: readonly T[]; readonly nextCursor: string | null }>;

export async function readAll<T>(
  read: PageRead<T>,
  { signal, most, onPage }: { signal: AbortSignal; most: number; onPage: (count: number) => void },
): Promise<{ readonly rows: readonly T[]; readonly isCut: boolean }> {
  const rows: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read(cursor, signal);
    rows.push(...page.rows);
    onPage(rows.length);
    if (page.nextCursor === null) return { rows: rows.slice(0, most), isCut: rows.length > most };
    if (rows.length >= most || page.rows.length === 0)
      return { rows: rows.slice(0, most), isCut: true };
    cursor = page.nextCursor;
  }
}
