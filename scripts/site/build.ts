// Builds the documents as a site for the market to serve at /docs (apps/market/edge/documents.ts): its
// pages, those made of the sources, and pictures. No page has a script inside, and none asks
// another origin.

import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'vitepress';
import { filesIn, filesOf } from '../sources.ts';
import { indexForModels, nameOf, outside, pageOf, titleOf } from './markdown.ts';
import { generatedPages, textOf } from './pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const own = fileURLToPath(new URL('.', import.meta.url));
const isText = /\.(?:html|js|css|svg|json|txt)$/;
/** High enough: the last levels take ten times as long for a twentieth less. */
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export type BuiltSite = { readonly files: readonly string[] };

/** Builds beside `to`, and puts it there when it is whole. Throws a link that leads nowhere. */
export async function buildSite(to: string): Promise<BuiltSite> {
  // Inside of the repository, where the packages of the theme are found.
  const pages = join(root, `packages/web/dist-docs.${process.pid}.pages`);
  const made = `${to}.${process.pid}`;
  try {
    await stage(pages, made);
    await build(pages);
    await put(join(made, 'llms.txt'), indexForModels(textOf('docs/README.md')));
    const files = await finished(made);
    await rm(to, { recursive: true, force: true });
    await mkdir(dirname(to), { recursive: true });
    await rename(made, to);
    return { files };
  } finally {
    for (const each of [pages, made]) await rm(each, { recursive: true, force: true });
  }
}

/** Puts the documents where VitePress reads them. */
async function stage(folder: string, made: string): Promise<void> {
  const documents = filesOf('docs/**/*.md', ...Object.keys(outside));
  const texts = new Map(documents.map((path) => [path, textOf(path)]));
  for (const [name, text] of Object.entries(generatedPages())) texts.set(`docs/${name}`, text);
  const titles = new Map([...texts].map(([path, text]) => [path, titleOf(text)]));
  for (const [path, text] of texts) {
    const page = pageOf(path, text, titles);
    await put(join(folder, `${nameOf(path)}.md`), page.text);
    for (const each of page.pictures) {
      await cp(join(root, each), join(folder, 'public', each), { recursive: true });
    }
  }
  const config = [
    `import { siteConfig } from ${JSON.stringify(join(own, 'config.ts'))};`,
    `export default siteConfig(${JSON.stringify(root)}, ${JSON.stringify(made)});`,
  ];
  await put(join(folder, '.vitepress/config.ts'), config.join('\n'));
  // Its bundler knows no newer target, and takes the nearest of such files.
  await put(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "target": "ES2022" } }');
  for (const name of ['theme.ts', 'theme.css']) {
    const file = name === 'theme.ts' ? 'index.ts' : name;
    await put(join(folder, '.vitepress/theme', file), await readFile(join(own, name), 'utf8'));
  }
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Moves scripts out of the pages, packs, and names the files in build.json. */
async function finished(folder: string): Promise<string[]> {
  await rm(join(folder, 'hashmap.json'), { force: true });
  const paths = await filesIn(folder);
  const scripts = new Map<string, string>();
  for (const path of paths.filter((each) => each.endsWith('.html'))) {
    const file = join(folder, path);
    await writeFile(file, withoutScripts(await readFile(file, 'utf8'), scripts));
  }
  for (const [path, text] of scripts) await put(join(folder, path), text);
  const files = [...paths, ...scripts.keys()].sort();
  await Promise.all(files.map((path) => pack(join(folder, path))));
  await put(join(folder, 'build.json'), `${JSON.stringify({ files }, null, 1)}\n`);
  return files;
}

/** The page with each script in a file, whose name has its hash. */
export function withoutScripts(html: string, scripts: Map<string, string>): string {
  return html.replace(/<script( id="[^"]*")?>([\s\S]*?)<\/script>/g, (_all, id = '', text) => {
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
    const path = `assets/page.${digest}.js`;
    scripts.set(path, text);
    return `<script${id} src="/docs/${path}"></script>`;
  });
}

async function pack(file: string): Promise<void> {
  if (!isText.test(file)) return;
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file), packing));
}
