// All that the market tells of an account, read page by page. Each part has a limit, and what is
// left out is named.

import { type PageRead, readAll } from '../../market/pages.ts';

type Collecting = {
  readonly signal: AbortSignal;
  /** Rows of each part at most. */
  readonly most: number;
  readonly onProgress: (part: string, count: number) => void;
};

export type Collected = {
  readonly parts: Readonly<Record<string, readonly unknown[]>>;
  /** Parts of which there was more. */
  readonly cut: readonly string[];
};

export async function collect(
  reads: Readonly<Record<string, PageRead>>,
  { signal, most, onProgress }: Collecting,
): Promise<Collected> {
  const parts: Record<string, readonly unknown[]> = {};
  const cut: string[] = [];
  for (const [name, read] of Object.entries(reads)) {
    const onPage = (count: number) => onProgress(name, count);
    onPage(0);
    const { rows, isCut } = await readAll(read, { signal, most, onPage });
    parts[name] = rows;
    if (isCut) cut.push(name);
  }
  return { parts, cut };
}
