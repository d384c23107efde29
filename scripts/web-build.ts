// Builds the app for browsers. The same sources give the same bytes in every folder; the hash over
// them is in `build.json`, which the market reads (apps/market/edge/web/build.ts).

import { createHash } from 'node:crypto';
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { copyBuild, webBuild } from '@parley/web/vite.config.ts';
import { build, type Rolldown } from 'vite';
import { filesIn } from './sources.ts';

const routes = fileURLToPath(new URL('../packages/web/app/router.tsx', import.meta.url));
const isText = /\.(?:html|js|css|svg|json|webmanifest|txt)$/;
/** Below, the head of a packed file costs more than packing saves. */
const leastPacked = 512;
/** In the worker: where the names of all other files belong. */
const filesOfWorker = 'self.__files';

export type File = { readonly path: string; readonly sha256: string };

export type Built = {
  /** SHA-256, in hex, of what `sha256sum` prints of the files, sorted by path. */
  readonly hash: string;
  /** Paths are relative to the folder; packed ones and build.json are not named. */
  readonly files: readonly File[];
  /** Paths of the router, a parameter as `$name`. */
  readonly screens: readonly string[];
};

/** Builds beside `to`, and puts it there when it is whole. Throws what is wrong in the sources. */
export async function buildWeb(to: string): Promise<Built> {
  const folder = `${to}.${process.pid}`;
  const former = `${folder}.former`;
  try {
    const built = await buildUnpacked(folder);
    await Promise.all(built.files.map(({ path }) => pack(join(folder, path))));
    await rename(to, former).catch(ignoreMissing);
    await rename(folder, to);
    return built;
  } finally {
    for (const each of [folder, former]) await rm(each, { recursive: true, force: true });
  }
}

/** All but the packed files, which take most of a build's time. Throws as `buildWeb`. */
export async function buildUnpacked(folder: string): Promise<Built> {
  const startedAt = new Date();
  await build(webBuild(folder));
  await writeFile(join(folder, 'rescue.html'), await rescuePage());
  await nameFiles(join(folder, 'worker.js'), await filesOf(folder));
  const files = await filesOf(folder);
  const built = { hash: hashOf(files), files, screens: await screens() };
  const described = join(folder, 'build.json');
  await writeFile(described, `${JSON.stringify(built, null, 1)}\n`);
  // Sources that change while they are built are newer than the build.
  await utimes(described, startedAt, startedAt);
  return built;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function hashOf(files: readonly File[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ./${path}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

async function filesOf(folder: string): Promise<File[]> {
  return Promise.all(
    (await filesIn(folder)).map(async (path) => {
      const bytes = await readFile(join(folder, path));
      return { path, sha256: createHash('sha256').update(bytes).digest('hex') };
    }),
  );
}

/** The service worker keeps exactly the files of its build, and checks each. */
async function nameFiles(worker: string, files: readonly File[]): Promise<void> {
  const source = await readFile(worker, 'utf8');
  if (!source.includes(filesOfWorker)) throw new Error(`${worker} does not ask for its files`);
  const others = files.filter(({ path }) => path !== 'worker.js');
  const named = JSON.stringify(others.map(({ path, sha256 }) => [path, sha256]));
  await writeFile(
    worker,
    source.replace(filesOfWorker, () => named),
  );
}

/** The router names each path whole: `screen('/book', …)`, `path: '/phrase'`. */
async function screens(): Promise<string[]> {
  const found = (await readFile(routes, 'utf8')).matchAll(/^ *(?:screen\(\s*|path: )'([^']+)'/gm);
  return [...found].map(([, path = '']) => path).sort();
}

async function pack(file: string): Promise<void> {
  const plain = await readFile(file);
  if (!isText.test(file) || plain.length < leastPacked) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)]);
}

// The rescue page as one HTML file: everything is inside, and its own policy lets nothing else run.
// A page from a disk may load no module beside it.

/** Throws what is wrong in the sources. */
export async function rescuePage(): Promise<string> {
  const made = (await build(copyBuild())) as Rolldown.RolldownOutput;
  const chunks = made.output.filter((each) => each.type === 'chunk');
  const assets = made.output.filter((each) => each.type === 'asset');
  const html = assets.find(({ fileName }) => fileName.endsWith('.html'));
  const [script, ...more] = chunks;
  if (script === undefined || html === undefined || more.length > 0) {
    throw new Error(
      `the rescue page is ${made.output.length} files, and not one script and a page`,
    );
  }
  const styles = assets.filter(({ fileName }) => fileName.endsWith('.css'));
  // A closing tag inside the code would end the script early.
  const code = script.code.replaceAll('</script', '<\\/script');
  const style = styles.map(({ source }) => String(source)).join('\n');
  const policy = [
    "default-src 'none'",
    `script-src '${sourceOf(code)}'`,
    `style-src '${sourceOf(style)}'`,
    'img-src data:',
    // Nodes are named by a person, in any network.
    'connect-src https: http:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return String(html.source)
    .replace(/<script type="module"[^>]*><\/script>\s*/, '')
    .replaceAll(/<link rel="(?:stylesheet|modulepreload)"[^>]*>\s*/g, '')
    .replace(
      '<meta charset="utf-8">',
      () =>
        '<meta charset="utf-8">\n    ' +
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
    .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
    .replace('</body>', () => `  <script type="module">${code}</script>\n  </body>`);
}

function sourceOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
