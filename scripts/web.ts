// `npm run web`: builds the app for browsers and the documents where the market looks for them.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, runCommand } from '@parley/host/command.ts';
import { print } from '@parley/market/ops/operator.ts';

const usage = `usage: npm run web [-- --only app|docs] [--out FOLDER] [--json]
  --only app|docs   the app, or the documents
  --out FOLDER      instead of packages/web/dist, from which the market serves the app; the documents
                    go to FOLDER-docs
The same sources give the same hash. Exit status: 0 built, 1 not built, 2 not understood.`;

const folder = fileURLToPath(new URL('../packages/web/dist', import.meta.url));
const parts = ['app', 'docs'] as const;

function understand(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    out: text,
    only: text,
  } as const;
  const { values } = parsed({ args, options });
  if (values.help === true) return null;
  if (values.out === '') throw new Misused('--out wants a folder');
  const wanted = parts.filter((part) => values.only === undefined || values.only === part);
  if (wanted.length === 0) throw new Misused('--only wants app or docs');
  return { out: resolve(values.out ?? folder), json: values.json ?? false, wanted };
}

async function run({ out, json, wanted }: NonNullable<ReturnType<typeof understand>>) {
  for (const part of wanted) {
    const startedAt = performance.now();
    const built = await (part === 'app' ? buildApp(out) : buildDocuments(`${out}-docs`));
    const seconds = Math.round(performance.now() - startedAt) / 1_000;
    const hash = 'hash' in built ? `, hash ${built.hash}` : '';
    print(
      json ? JSON.stringify({ ...built, seconds }) : `built ${built.out} in ${seconds} s${hash}`,
    );
  }
  return 0;
}

async function buildApp(out: string) {
  const { buildWeb } = await import('./web-build.ts').catch(missing);
  const { hash, files } = await buildWeb(out);
  return { out, hash, files: files.length };
}

async function buildDocuments(out: string) {
  const { buildSite } = await import('./site/build.ts').catch(missing);
  const { files } = await buildSite(out);
  return { out, files: files.length };
}

function missing(cause: Error): never {
  throw new Error(`this is built with the development packages: npm ci (${cause.message})`);
}

await runCommand({ usage, understand, run });
