// One process that runs commands one after the other as if each were a program of its own: their
// imports are loaded once, which is most of what a command takes (verify/test/support/commands.ts).

import { fileURLToPath, pathToFileURL } from 'node:url';

type Order = {
  readonly number: number;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** In place of the end of the process. */
class Ended extends Error {}

const root = fileURLToPath(new URL('../../..', import.meta.url));
process.stdout.setMaxListeners(0);
const end = process.exit;
// Before those that a command's imports may set.
for (const last of ['disconnect', 'SIGTERM'] as const) process.once(last, () => end(0));

async function ordered({ number, file, args, env }: Order) {
  const said = { out: '', err: '' };
  const into = (name: 'out' | 'err') => (text: string | Uint8Array) => {
    said[name] += text;
    return true;
  };
  process.argv = [process.execPath, file, ...args];
  process.env = { ...env };
  process.chdir(root);
  process.stdout.write = into('out') as never;
  process.stderr.write = into('err') as never;
  process.exitCode = 0;
  process.exit = (code) => {
    process.exitCode = code ?? process.exitCode;
    throw new Ended();
  };
  try {
    // Anew: a program does its work when it is loaded.
    await import(`${pathToFileURL(file).href}?run=${number}`);
  } catch (error) {
    if (!(error instanceof Ended)) {
      process.exitCode = 1;
      said.err += (error as Error).stack;
    }
  }
  const code = Number(process.exitCode);
  process.exitCode = 0;
  return { code, ...said };
}

let before: Promise<unknown> = Promise.resolve();
process.on('message', (order: Order) => {
  before = before.then(async () =>
    process.send?.({ number: order.number, ...(await ordered(order)) }),
  );
});
