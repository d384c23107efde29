// `npm run web`: builds the app for browsers where the market looks for it.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, runCommand, usualOptions } from './command.ts';
import { print } from './ops/operator.ts';

const usage = `usage: npm run web [-- --out FOLDER] [--json]
  --out FOLDER   instead of web/dist, from which the market serves it
The same sources give the same hash. Exit status: 0 built, 1 not built, 2 not understood.`;

const folder = fileURLToPath(new URL('../web/dist', import.meta.url));

function understand(args: string[]) {
  const options = { ...usualOptions, out: { type: 'string' } } as const;
  const { values } = parsed({ args, options });
  if (values.help === true) return null;
  if (values.out === '') throw new Misused('--out wants a folder');
  return { out: resolve(values.out ?? folder), json: values.json ?? false };
}

async function run({ out, json }: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const startedAt = performance.now();
  const { buildWeb } = await import('./web-build.ts').catch((cause: Error) => {
    throw new Error(`the app is built with the development packages: npm ci (${cause.message})`);
  });
  const { hash, files } = await buildWeb(out);
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  const facts = { out, hash, files: files.length, seconds };
  print(json ? JSON.stringify(facts) : `built ${out} in ${seconds} s, hash ${hash}`);
  return 0;
}

await runCommand({ usage, understand, run });
