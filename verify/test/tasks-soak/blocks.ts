// The commands of the pages by task, as they stand in the Markdown: in order, with what they print.

import { readFileSync } from 'node:fs';

/** In the order of a weekend. `database` has a standby's takeover; then the dump is restored. */
export const pages = [
  'install',
  'configure',
  'secure',
  'watch',
  'backup',
  'upgrade',
  'database',
  'restore',
  'incidents',
] as const;
export type Page = (typeof pages)[number];

/** Stand-ins for something of the operator's own in a page's commands, and what a test has. */
export const fills: readonly (readonly [page: Page, from: string, to: string])[] = [
  ['install', 'PARLEY_NETWORK=mainnet', 'PARLEY_NETWORK=dev'],
  ['incidents', '--chain ethereum', '--chain evm-dev'],
];

export type Block = {
  readonly page: Page;
  /** The line of the file, from 1 on, where its first command stands. */
  readonly line: number;
  readonly commands: string;
  /** Lines of its output, `…` for anything; null: the page does not say. */
  readonly prints: string | null;
  /** The reason that the page gives for not running it; null: it is run. */
  readonly notRun: string | null;
};

type Fence = { readonly language: string; readonly line: number; readonly text: string };

const notRunForm = /^Not run by the test: (\S.*\.)$/;

function fencesOf(lines: readonly string[]): readonly (Fence & { readonly end: number })[] {
  const found: (Fence & { readonly end: number })[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent, language] = /^( *)```(\w*)$/.exec(lines[at] ?? '') ?? [];
    if (indent === undefined || language === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`line ${at + 1} opens a block that does not end`);
    const own = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    found.push({ language, line: at + 2, text: own.join('\n'), end });
    at = end;
  }
  return found;
}

/**
 * The blocks of a page's text. Blocks in another language than `sh` are contents, and are not
 * commands.
 */
export function blocksIn(page: Page, text: string): readonly Block[] {
  const lines = text.split('\n');
  const fences = fencesOf(lines);
  return fences.flatMap((fence, at): Block[] => {
    if (fence.language !== 'sh') return [];
    const next = fences[at + 1];
    // It stands right below its commands.
    const answers = next?.language === 'text' && next.line - fence.end <= 3 ? next.text : null;
    const before = lines.slice(0, fence.line - 2).findLast((line) => line.trim() !== '') ?? '';
    const [, notRun = null] = notRunForm.exec(before.trim()) ?? [];
    const commands = fills
      .filter(([of]) => of === page)
      .reduce((now, [, from, to]) => now.replaceAll(from, to), fence.text);
    return [{ page, line: fence.line, commands, prints: answers, notRun }];
  });
}

export const textOf = (page: Page) =>
  readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');

export const allBlocks = () => pages.flatMap((page) => blocksIn(page, textOf(page)));

/** Each line must come after the one before it. A line that is only `…` is any number of lines. */
export function doesPrint(wanted: string, output: string): boolean {
  const lines = wanted.split('\n').filter((line) => line.trim() !== '…');
  const told = output.split('\n').map((line) => line.trimEnd());
  let from = 0;
  for (const line of lines) {
    const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const form = new RegExp(`^${parts.join('.*')}$`);
    const at = told.findIndex((each, index) => index >= from && form.test(each));
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}
