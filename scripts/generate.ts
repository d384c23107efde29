// Writes what the descriptions in docs/ say in other languages: the types of the SDK and of the app,
// and the modules of the Python package. Git keeps none of it. The check of types, packages and
// tests make it first, which takes a tenth of a second.

import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pythonFiles } from './python/generate.ts';
import { typescriptOf } from './typescript.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @returns the paths of files that were not as the descriptions are, from the root. */
export async function generate(): Promise<string[]> {
  const [openapi, account, asyncapi] = await Promise.all(
    ['openapi', 'openapi-account', 'asyncapi'].map(async (name) =>
      JSON.parse(await readFile(`${root}docs/${name}.json`, 'utf8')),
    ),
  );
  const files = {
    'packages/sdk/generated.ts': typescriptOf(openapi, {
      core: '@parley/core',
      feed: asyncapi,
    }),
    'packages/web/market/generated.ts': typescriptOf(account, { core: '@parley/core' }),
    ...pythonFiles(openapi, asyncapi),
  };
  const written: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    const there = await readFile(root + path, 'utf8').catch(() => null);
    if (there === text) continue;
    // Another process may read it meanwhile.
    const draft = `${root}${path}.${randomBytes(6).toString('hex')}.log`;
    await writeFile(draft, text);
    await rename(draft, root + path);
    written.push(path);
  }
  return written;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const written = await generate();
  console.log(written.length === 0 ? 'no file has changed' : `${written.join(', ')}: written`);
}
