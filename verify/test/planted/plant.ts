// Loaded before a program and everything that it starts: sources get the edits of
// PARLEY_TEST_PLANTED as they are loaded, and the tree stays as it is.

import { registerHooks } from 'node:module';
import { type Edit, edited } from './edit.ts';

const root = new URL('../../../', import.meta.url);
const edits = JSON.parse(process.env.PARLEY_TEST_PLANTED ?? '[]') as readonly Edit[];

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    const own = edits.filter(({ file }) => new URL(file, root).href === url);
    if (own.length === 0) return loaded;
    const text = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: own.reduce(edited, text) };
  },
});
