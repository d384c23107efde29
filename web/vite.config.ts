// The build of the app: files with immutable names below /app/, the same bytes wherever built. The
// worker and index.html keep their names, and are asked for anew each time.

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

/** `outDir`: a path. */
export function webBuild(outDir: string): InlineConfig {
  return {
    configFile: false,
    root,
    base: '/app/',
    logLevel: 'error',
    plugins: [react()],
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
