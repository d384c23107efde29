// The build of the app: files with immutable names below /app/, the same bytes wherever built. The
// worker and index.html keep their names, and are asked for anew each time.

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, type InlineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * React Aria says its own words in 34 languages, and half of a combo box is those. Those of the
 * app's languages are kept; a word that a locale lacks is said in en-US.
 */
const ownLanguages: Plugin = {
  name: 'own-languages',
  load: (id) =>
    /\/react-(?:aria|stately).*\/intl\/.*\b(?!en-US|de-DE)[a-z]{2}-[A-Z]{2}\.m?js$/.test(id)
      ? 'export default undefined;'
      : null,
};

/** Packages of this repository are their sources; the others resolve as Vite has it. */
export const sourceConditions = ['@parley/source', ...defaultClientConditions];

/** `outDir`: a path. */
export function webBuild(outDir: string): InlineConfig {
  return {
    configFile: false,
    root,
    base: '/app/',
    logLevel: 'error',
    resolve: { conditions: sourceConditions },
    plugins: [react(), ownLanguages],
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
    plugins: [react(), ownLanguages],
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
