// `npm run web`: builds the app for browsers and the documents where the market looks for them.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, runCommand } from '@parley/host/command.ts';
import { print } from '@parley/market/ops/operator.ts';

const usage = `usage: npm run web [-- --only app|pack|docs] [--unpacked] [--out FOLDER] [--json]
  --only app|pack|docs   the app, its packed files alone, or the documents; default: app and docs
  --unpacked             the app without its packed files
  --out FOLDER           instead of packages/web/dist, from which the market serves the app; the
                         documents go to FOLDER-docs
The same sources give the same hash. Exit status: 0 built, 1 not built, 2 not understood.`;

const folder = fileURLToPath(new URL('../packages/web/dist', import.meta.url));
const parts = ['app', 'pack', 'docs'] as const;
type Part = (typeof parts)[number];

function understand(args: string[]) {
  const options = {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    out: { type: 'string' },
    only: { type: 'string' },
    unpacked: { type: 'boolean' },
  } as const;
  const { values } = parsed({ args, options });
  if (values.help === true) return null;
  if (values.out === '') throw new Misused('--out wants a folder');
  const { only, unpacked = false, json = false } = values;
  const wanted = only === undefined ? (['app', 'docs'] as const) : [partOf(only)];
  return { out: resolve(values.out ?? folder), json, unpacked, wanted };
}

function partOf(name: string): Part {
  const part = parts.find((each) => each === name);
  if (part === undefined) throw new Misused(`--only wants ${parts.join(' or ')}`);
  return part;
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function run(asked: Asked) {
  for (const part of asked.wanted) {
    const startedAt = performance.now();
    const built = await make(part, asked);
    const seconds = Math.round(performance.now() - startedAt) / 1_000;
    const hash = 'hash' in built ? `, hash ${built.hash}` : '';
    print(
      asked.json
        ? JSON.stringify({ ...built, seconds })
        : `built ${built.out} in ${seconds} s${hash}`,
    );
  }
  return 0;
}

async function make(part: Part, { out, unpacked }: Asked) {
  if (part === 'docs') {
    const { buildSite } = await import('./site/build.ts').catch(missing);
    const { files } = await buildSite(`${out}-docs`);
    return { out: `${out}-docs`, files: files.length };
  }
  const { buildWeb, packWeb } = await import('./web-build.ts').catch(missing);
  const { hash, files } =
    part === 'app' ? await buildWeb(out, { isPacked: !unpacked }) : await packWeb(out);
  return { out, hash, files: files.length };
}

function missing(cause: Error): never {
  throw new Error(`this is built with the development packages: npm ci (${cause.message})`);
}

await runCommand({ usage, understand, run });
