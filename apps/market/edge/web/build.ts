// A build of the app, as scripts/web-build.ts left it in a folder: read whole, each file against
// the hash that the build names. It is then served from memory, whatever becomes of the folder.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nullIfMissing } from '@parley/host/missing-file.ts';

export type WebFile = {
  readonly path: string;
  readonly type: string;
  /** Weak: the same file packed has it too. */
  readonly etag: string;
  readonly plain: Buffer;
  /** Packed ones may come later: a start does not wait for them. */
  br: Buffer | null;
  gzip: Buffer | null;
};

export type WebBuild = {
  readonly hash: string;
  /** Paths of screens; a parameter as `$name`. */
  readonly screens: readonly string[];
  readonly files: readonly WebFile[];
};

type Described = {
  readonly hash: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly screens: readonly string[];
};

/** A build beside may be putting its files there just now. */
const tries = 5;
const pauseMs = 200;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
  png: 'image/png',
  webp: 'image/webp',
  webmanifest: 'application/manifest+json',
  json: 'application/json; charset=utf-8',
};

/** Null where nothing was ever built there. Throws of a folder whose files are not its build's. */
export async function readBuild(folder: string): Promise<WebBuild | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(folder);
    } catch (error) {
      if (attempt >= tries) throw error;
      await sleep(pauseMs);
    }
  }
}

async function once(folder: string): Promise<WebBuild | null> {
  const text = await readFile(join(folder, 'build.json')).catch(nullIfMissing);
  if (text === null) return null;
  const { hash, screens, files } = JSON.parse(text.toString()) as Described;
  const lines = files.map(({ path, sha256 }) => `${sha256}  ./${path}\n`).join('');
  if (sha256Of(Buffer.from(lines)) !== hash) throw new Error(`${folder}: build.json is damaged`);
  const read = files.map(async ({ path, sha256 }) => {
    const file = join(folder, path);
    const [plain, br, gzip] = await Promise.all([
      readFile(file),
      readFile(`${file}.br`).catch(nullIfMissing),
      readFile(`${file}.gz`).catch(nullIfMissing),
    ]);
    if (sha256Of(plain) !== sha256) throw new Error(`${file} is not what build.json names`);
    return { path, type: typeOf(path), etag: `W/"${sha256.slice(0, 32)}"`, plain, br, gzip };
  });
  return { hash, screens, files: await Promise.all(read) };
}

export function typeOf(path: string): string {
  const type = types[path.slice(path.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`the build has a file of an unknown type: ${path}`);
  return type;
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
