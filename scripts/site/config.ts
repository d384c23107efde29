// The site of the documents as VitePress builds it: below /docs of a market, with no other origin.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserConfig } from 'vitepress';
import { anchorOf, menuOf } from './markdown.ts';

/** `root`: that of the repository; `to`: where the site is put. */
export function siteConfig(root: string, to: string): UserConfig {
  return {
    base: '/docs/',
    title: 'Parley',
    titleTemplate: ':title - Parley',
    description: 'A non-custodial marketplace for cross-chain atomic swaps',
    cleanUrls: true,
    // One page after the other: the index of the search has the same order each time.
    buildConcurrency: 1,
    // A script of its own: the market's policy lets no other one run.
    metaChunk: true,
    outDir: to,
    head: [['link', { rel: 'icon', href: 'data:,' }]],
    // Braces are text.
    markdown: { anchor: { slugify: anchorOf }, attrs: { disable: true } },
    themeConfig: {
      // The market has no page at `/docs/`, with a slash.
      logoLink: '/docs',
      search: { provider: 'local' },
      outline: [2, 3],
      sidebar: menuOf(readFileSync(join(root, 'docs/README.md'), 'utf8')),
      docFooter: { prev: 'Page before', next: 'Next page' },
    },
  };
}
