// The build of the app: files with immutable names below /app/, the same bytes wherever built.

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
    },
  };
}
