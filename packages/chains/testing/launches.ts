// Launches read page after page, for the tests of families.

import type { LaunchPage, LaunchPosition } from '@parley/tokens/launches.ts';

/** Until there are no more. */
export async function allLaunches(
  after: LaunchPosition,
  next: (after: LaunchPosition) => Promise<LaunchPage>,
): Promise<LaunchPage & { readonly pages: number }> {
  const tokens: string[] = [];
  let position = after;
  for (let pages = 1; pages < 1_000; pages += 1) {
    const page = await next(position);
    tokens.push(...page.tokens);
    position = page.position;
    if (page.isWhole) return { ...page, tokens, pages };
  }
  throw new Error('no end');
}
