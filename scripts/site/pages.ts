// The pages of the site that are made of the sources: neither is in git.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf } from '../sources.ts';
import { packageOf } from '../tokens.ts';
import { errorsPage } from './errors.ts';
import { limitRooms, limitsPage } from './limits.ts';

const root = join(import.meta.dirname, '../..');
const notProduct = /\.test\.tsx?$|\/testing|\/dev\/|generated/;

export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The sources whose limits are shown. */
export function limitSources(): string[] {
  const rooms = new Set(Object.keys(limitRooms).map(packageOf));
  const files = [...rooms].flatMap((room) => filesOf(`${room}/**/*.{ts,tsx}`));
  return files.filter((path) => !notProduct.test(path));
}

/** Each page by its name. */
export function generatedPages(): Readonly<Record<string, string>> {
  const sources = limitSources().map((path): [string, string] => [path, textOf(path)]);
  return {
    'errors.md': errorsPage(['packages/core/errors.ts', 'apps/market/edge/errors.ts'].map(textOf)),
    'limits.md': limitsPage(Object.fromEntries(sources)),
  };
}
