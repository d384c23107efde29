// The market's lists come in pages, each with the cursor of the next.

/** Pages in their order, at most `most`. `from` is `{}` for the first one. */
export async function* pagesOf<Page extends { readonly nextCursor: string | null }>(
  most: number,
  ask: (from: { readonly cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | null = null;
  for (let page = 0; page < most; page += 1) {
    const found: Page = await ask(cursor === null ? {} : { cursor });
    yield found;
    cursor = found.nextCursor;
    if (cursor === null) return;
  }
}
