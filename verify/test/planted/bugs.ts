// The registry of planted bugs: the `.bugs` files of this folder. docs/verification.md has their
// format.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Edit, edited } from './edit.ts';

export const root = join(import.meta.dirname, '../../..');

/** The finders of bugs. */
export const kinds = [
  'test',
  'crashes',
  'sim',
  'driver',
  'forge',
  'solana',
  'python',
  'python-driver',
] as const;
export type Kind = (typeof kinds)[number];

/** `what`: a test file, a row of the crash matrix, a seed, or tests of `python/`. */
export type Finder = { readonly kind: Kind; readonly what: string };

/** All is well, a promise broke, or a process only ended or threw, which says nothing. */
export type Looked = 'well' | { readonly rule: string } | { readonly crashed: string };

/** The simulation's words for a process that ends or hangs, and for a throw. */
export const crashed = {
  ended: 'a seed comes to its end',
  threw: 'nothing unheard of happens',
} as const;

/** `bug`: null = the sources as they are. */
export type Look = (what: string, bug: Bug | null, env: NodeJS.ProcessEnv) => Promise<Looked>;

export type Bug = {
  readonly name: string;
  /** Each of them finds it. */
  readonly by: readonly Finder[];
  readonly edits: readonly Edit[];
};

function finderOf(text: string): Finder {
  const [kind = '', ...rest] = text.split(' ');
  const known = kinds.find((each) => each === kind);
  if (known === undefined) throw new Error(`nothing called "${kind}" looks for bugs`);
  return { kind: known, what: rest.join(' ') };
}

type Open = {
  name: string;
  by: Finder[];
  edits: { file: string; find: string[]; put: string[] }[];
};

/** Lines before the first bug hold for all that have none of their own. */
export function parseBugs(text: string): Bug[] {
  const usual: Open = { name: '', by: [], edits: [] };
  const bugs: Open[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const bug = bugs.at(-1) ?? usual;
    const wrong = (what: string) => new Error(`line ${at + 1}: ${what}: ${line}`);
    const rest = line.replace(/^\w+ /, '');
    if (line.startsWith('# ')) bugs.push({ name: line.slice(2), by: [], edits: [] });
    else if (line.startsWith('by ')) bug.by.push(finderOf(rest));
    else if (line.startsWith('in ')) bug.edits.push({ file: rest, find: [], put: [] });
    else if (/^[-+]/.test(line)) {
      const file = bug.edits.at(-1)?.file ?? usual.edits[0]?.file;
      if (file === undefined || bug === usual) throw wrong('in no file');
      if (bug.edits.length === 0) bug.edits.push({ file, find: [], put: [] });
      const edit = bug.edits.at(-1);
      (line.startsWith('-') ? edit?.find : edit?.put)?.push(line.slice(1));
    } else if (line !== '') throw wrong('not understood');
  }
  return bugs.map(({ name, by, edits }) => ({
    name,
    by: by.length > 0 ? by : usual.by,
    edits: edits.map(({ file, find, put }) => ({
      file,
      find: find.join('\n'),
      put: put.join('\n'),
    })),
  }));
}

export function allBugs(): Bug[] {
  const files = globSync('*.bugs', { cwd: import.meta.dirname }).sort();
  return files.flatMap((file) => parseBugs(readFileSync(join(import.meta.dirname, file), 'utf8')));
}

export function bugCalled(name: string): Bug {
  const bug = allBugs().find((each) => each.name === name);
  if (bug === undefined) throw new Error(`no bug is called "${name}"`);
  return bug;
}

/** Throws where an edit does not fit the sources as they are. */
export function mustFit({ edits }: Pick<Bug, 'edits'>): void {
  const sources = new Map<string, string>();
  for (const each of edits) {
    const source = sources.get(each.file) ?? readFileSync(join(root, each.file), 'utf8');
    sources.set(each.file, edited(source, each));
  }
}
