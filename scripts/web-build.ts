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
/** In the worker: where the names of all other files belong, and the paths of the screens. */
const filesOfWorker = 'self.__files';
const screensOfWorker = 'self.__screens';

export type File = { readonly path: string; readonly sha256: string };

export type Built = {
  /** SHA-256, in hex, of what `sha256sum` prints of the files, sorted by path. */
  readonly hash: string;
  /** Paths are relative to the folder; packed ones and build.json are not named. */
  readonly files: readonly File[];
  /** Paths of the router, a parameter as `$name`. */
  readonly screens: readonly string[];
};

/**
 * Builds beside `to`, and puts it there when it is whole. Packing takes most of the time, and a
 * browser on this machine gains nothing by it. Throws what is wrong in the sources.
 */
export async function buildWeb(to: string, { isPacked = true } = {}): Promise<Built> {
  const folder = `${to}.${process.pid}`;
  const former = `${folder}.former`;
  try {
    const built = await buildUnpacked(folder);
    if (isPacked) await Promise.all((await packedOf(folder, built.files)).map(putWhole));
    await rename(to, former).catch(ignoreMissing);
    await rename(folder, to);
    return built;
  } finally {
    for (const each of [folder, former]) await rm(each, { recursive: true, force: true });
  }
}

/** Packs the build in the folder. Throws where there is none, or another one by then. */
export async function packWeb(folder: string): Promise<Built> {
  const described = async () =>
    JSON.parse(await readFile(join(folder, 'build.json'), 'utf8')) as Built;
  const built = await described();
  const packed = await packedOf(folder, built.files);
  if ((await described()).hash !== built.hash)
    throw new Error(`${folder} was built anew meanwhile`);
  await Promise.all(packed.map(putWhole));
  return built;
}

/** All but the packed files. Throws as `buildWeb`. */
async function buildUnpacked(folder: string): Promise<Built> {
  const startedAt = new Date();
  await build(webBuild(folder));
  await writeFile(join(folder, 'rescue.html'), await rescuePage());
  const paths = await screens();
  await completeWorker(join(folder, 'worker.js'), await filesOf(folder), paths);
  const files = await filesOf(folder);
  const built = { hash: hashOf(files), files, screens: paths };
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

/**
 * The service worker keeps exactly the files of its build, checks each, and answers for its screens
 * alone.
 */
async function completeWorker(
  worker: string,
  files: readonly File[],
  paths: readonly string[],
): Promise<void> {
  const source = await readFile(worker, 'utf8');
  const others = files.filter(({ path }) => path !== 'worker.js');
  const named = JSON.stringify(others.map(({ path, sha256 }) => [path, sha256]));
  const withFiles = put(source, filesOfWorker, named);
  await writeFile(worker, put(withFiles, screensOfWorker, JSON.stringify(paths)));
}

function put(source: string, place: string, value: string): string {
  if (!source.includes(place)) throw new Error(`the worker has no ${place}`);
  return source.replace(place, () => value);
}

/** The router names each path whole: `screen('/book', …)`, `path: '/phrase'`. */
async function screens(): Promise<string[]> {
  const found = (await readFile(routes, 'utf8')).matchAll(/^ *(?:screen\(\s*|path: )'([^']+)'/gm);
  return [...found].map(([, path = '']) => path).sort();
}

type Packed = { readonly file: string; readonly bytes: Buffer };

async function packedOf(folder: string, files: readonly File[]): Promise<Packed[]> {
  return (await Promise.all(files.map(({ path }) => pack(join(folder, path))))).flat();
}

async function pack(file: string): Promise<Packed[]> {
  const plain = await readFile(file);
  if (!isText.test(file) || plain.length < leastPacked) return [];
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  return [
    { file: `${file}.br`, bytes: br },
    { file: `${file}.gz`, bytes: gz },
  ];
}

/** A market may read it meanwhile. */
async function putWhole({ file, bytes }: Packed): Promise<void> {
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, bytes);
  await rename(beside, file);
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
