// The documents of the repository as pages of the site: where each goes, and its links rewritten.
// A link to a file that is no page becomes its text, since a reader of the site has no repository.

import { dirname, normalize } from 'node:path';

/** Pages outside of docs/, each by its name on the site. */
export const outside: Readonly<Record<string, string>> = {
  'README.md': 'start',
  'ARCHITECTURE.md': 'architecture',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  '.github/SECURITY.md': 'security',
  'packages/sdk/README.md': 'sdk',
  'python/README.md': 'python',
  'contracts/escrows/README.md': 'contract',
  'contracts/solana/README.md': 'solana-program',
  'dev/simulators/tron/README.md': 'simulator-tron',
  'dev/simulators/solana/README.md': 'simulator-solana',
};
/** Documents that the market itself serves. */
const served: Readonly<Record<string, string>> = {
  'docs/openapi.json': '/v1/openapi.json',
  'docs/openapi-account.json': '/account/openapi.json',
  'docs/asyncapi.json': '/v1/asyncapi.json',
};

/** The name of a document's page; null: it has none. */
export function nameOf(path: string): string | null {
  const other = outside[path];
  if (other !== undefined) return other;
  const [, name] = /^docs\/(.+)\.md$/.exec(path) ?? [];
  if (name === undefined) return null;
  return name === 'README' ? 'index' : name.replace(/\/README$/, '');
}

export type Page = { readonly text: string; readonly pictures: readonly string[] };

/** The title of a document. */
export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/**
 * The text of a document's page, and the pictures that it shows, as paths of the repository.
 * `titles`, by path, take the place of the names of files in links.
 */
export function pageOf(path: string, text: string, titles: ReadonlyMap<string, string>): Page {
  const pictures: string[] = [];
  const rewritten = eachProse(text, (prose) =>
    prose.replace(
      /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
      (_all, mark: string, words: string, target: string) => {
        if (/^[a-z]+:/.test(target) || target.startsWith('#'))
          return `${mark}[${words}](${target})`;
        const [file = '', anchor] = target.split('#');
        const to = normalize(`${dirname(path)}/${file}`);
        if (/\.(?:png|svg|webp)$/.test(to)) {
          pictures.push(to);
          return `${mark}[${words}](/${to})`;
        }
        const at = served[to];
        if (at !== undefined) return `<a href="${at}" target="_self">${words}</a>`;
        const name = nameOf(to);
        if (name === null) return words;
        const title = /^[\w./-]+\.md$/.test(words) ? titles.get(to) : undefined;
        return `[${title ?? words}](/${name}${anchor === undefined ? '' : `#${anchor}`})`;
      },
    ),
  );
  return { text: rewritten, pictures };
}

/** Applies `change` to all but blocks of code, where no text is taken for a tag. */
function eachProse(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^ *```[\s\S]*?^ *```$)/m)
    .map((block, at) => (at % 2 === 1 ? block : change(withoutTags(block))))
    .join('');
}

/** Outside of code in a line; `<https://…>` is a link. */
function withoutTags(prose: string): string {
  return prose
    .split(/(`[^`\n]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/<(?!https?:)/g, '&lt;')))
    .join('');
}

/** As GitHub makes them of headings. */
export function anchorOf(heading: string): string {
  const kept = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
  return kept.replaceAll(' ', '-');
}

type Group = { readonly text: string; readonly items: readonly { text: string; link: string }[] };

/** The menu: the groups of the index, docs/README.md. */
export function menuOf(index: string): Group[] {
  const groups: { text: string; items: { text: string; link: string }[] }[] = [];
  for (const line of index.split('\n')) {
    const [, group] = /^\*\*([^*]+)\*\*/.exec(line) ?? [];
    if (group !== undefined) groups.push({ text: group, items: [] });
    if (!line.startsWith('- ')) continue;
    for (const [, text = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const name = nameOf(normalize(`docs/${target}`));
      if (name !== null) groups.at(-1)?.items.push({ text, link: `/${name}` });
    }
  }
  return groups;
}

/** The index for language models (llmstxt.org): docs/README.md with the places of the market. */
export function indexForModels(index: string): string {
  return index
    .replace(/^# .*$/m, '# Parley')
    .replace(/^\*\*([^*]+)\*\*.*$/gm, '## $1\n')
    .replace(/\]\(([^)]+)\)/g, (_all, target: string) => {
      const path = normalize(`docs/${target}`);
      const name = nameOf(path);
      return name === null ? `](${served[path] ?? target})` : `](/docs/${name})`;
    });
}
