// Tests only: a program of a document, placed where it can run. Its imports of the package come
// from the sources.

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../../..');

/** The first program of the document that has these words, until the test has ended. */
export async function placed(t: TestContext, document: string, words: string): Promise<string> {
  const text = await readFile(join(root, document), 'utf8');
  const programs = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  const program = programs.find((code) => code.includes(words));
  assert.ok(program !== undefined, `${document} has no program with ${words}`);
  const dir = await mkdtemp(join(tmpdir(), 'parley-placed-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'program.ts');
  const base = pathToFileURL(`${root}/`).href;
  const own = program.replaceAll(/(?<=from ')@parley\/([\w/-]+)/g, `${base}packages/$1.ts`);
  await writeFile(file, own);
  return file;
}

/** It runs in a process of its own until the test has ended; answers its lines, one by one. */
export async function running(
  t: TestContext,
  document: string,
  words: string,
  env: Record<string, string>,
): Promise<() => Promise<string>> {
  const file = await placed(t, document, words);
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}
