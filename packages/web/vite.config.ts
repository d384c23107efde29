// The build of the app: files with immutable names below /app/, the same bytes wherever built. The
// worker and index.html keep their names, and are asked for anew each time.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, type InlineConfig, type Plugin, type Rolldown } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

export const firstScreen = '/screens/swap-box/swap-box.tsx';
/** The letters of both languages. */
const font = /inter-latin-wght.*\.woff2$/;

/** Code of the first screen and the font are asked for with the page, not after its script ran. */
const preloads: Plugin = {
  name: 'preloads',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) => {
      const files = Object.values(bundle);
      const chunks = files.filter((each) => each.type === 'chunk');
      const code = neededBy(firstScreen, chunks).filter((name) => !html.includes(name));
      const fonts = Object.keys(bundle).filter((name) => font.test(name));
      return [
        ...code.map((name) => preloadOf('modulepreload', name)),
        ...fonts.map((name) => preloadOf('preload', name, { as: 'font', type: 'font/woff2' })),
      ];
    },
  },
};

/** Names of the chunks that have to be there before the module runs, its own among them. */
export function neededBy(module: string, chunks: readonly Rolldown.OutputChunk[]): string[] {
  const own = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module));
  if (own === undefined) throw new Error(`the build has no chunk of ${module}`);
  const needed = new Set([own.fileName]);
  for (const name of needed) {
    const { imports = [] } = chunks.find(({ fileName }) => fileName === name) ?? {};
    for (const each of imports) needed.add(each);
  }
  return [...needed];
}

function preloadOf(rel: string, name: string, more: Readonly<Record<string, string>> = {}) {
  const attrs = { rel, ...more, crossorigin: true, href: `/app/${name}` };
  return { tag: 'link', injectTo: 'head', attrs } as const;
}

const iconOf = /^\0?@iconify-json\/token\/icon\/([a-z-]+)$/;

/** `…/icon/btc`: the shapes of one icon of the set, as SVG; all would be 2 MB of the app. */
export const icons: Plugin = {
  name: 'icons',
  // With the mark of a module that is no file.
  resolveId: (id) => (iconOf.test(id) ? `\0${id}` : null),
  load: (id) => {
    const [, name = ''] = iconOf.exec(id) ?? [];
    if (name === '') return null;
    const set = createRequire(import.meta.url).resolve('@iconify-json/token/icons.json');
    const all = JSON.parse(readFileSync(set, 'utf8')) as IconSet;
    const { body } = all.icons[name] ?? {};
    if (body === undefined) throw new Error(`the set has no icon "${name}"`);
    return `export default ${JSON.stringify(body)};`;
  },
};

type IconSet = { readonly icons: Readonly<Record<string, { readonly body: string }>> };

/** Packages of this repository are their sources; the others resolve as Vite has it. */
export const sourceConditions = ['@parley/source', ...defaultClientConditions];

/** The worker stands alone; the others stay the entries that the page names. */
const ownChunk = /packages.web.(?:offline.(?:worker|own-words)\.ts|index\.html|main\.tsx)$/;
/**
 * A module a file would be thirty requests before the first screen, and sixty before a swap. Shared
 * modules of less than this, in bytes, go with those that most of the same screens need.
 */
const leastShared = 8_000;

/** `outDir`: a path. */
export function webBuild(outDir: string): InlineConfig {
  return {
    configFile: false,
    root,
    base: '/app/',
    logLevel: 'error',
    resolve: { conditions: sourceConditions },
    plugins: [react(), icons, preloads],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: { index: `${root}index.html`, worker: `${root}offline/worker.ts` },
        output: {
          entryFileNames: ({ name }) =>
            name === 'worker' ? 'worker.js' : 'assets/[name]-[hash].js',
          codeSplitting: {
            groups: [
              {
                name: 'app',
                tags: ['$initial'],
                test: (id) => !ownChunk.test(id),
                priority: 1,
              },
              {
                name: 'shared',
                minShareCount: 2,
                entriesAware: true,
                entriesAwareMergeThreshold: leastShared,
              },
            ],
          },
        },
      },
    },
  };
}

/**
 * The build of the rescue page: one script, in memory. It is put into one file by
 * scripts/web-build.ts.
 */
export function copyBuild(): InlineConfig {
  return {
    configFile: false,
    root,
    logLevel: 'error',
    resolve: { conditions: sourceConditions },
    plugins: [react(), icons],
    build: {
      write: false,
      target: 'es2022',
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: `${root}rescue.html`,
        output: { codeSplitting: false },
      },
    },
  };
}
