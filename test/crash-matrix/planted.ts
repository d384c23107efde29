// Plants one bug after the other in a copy of the tree and lets the crash matrix look for it:
// prints where each was found. One that is not found is printed, and the exit status is 1.
//
//   npm run -s node -- test/crash-matrix/planted.ts             all of them
//   npm run -s node -- test/crash-matrix/planted.ts keeper      those whose name has this
//   npm run -s node -- test/crash-matrix/planted.ts --help      the rest

import { spawn } from 'node:child_process';
import { Misused, parsed, runCommand } from '../../scripts/command.ts';
import { startCluster } from '../support/cluster.ts';
import { copyOfTree } from '../support/planted.ts';
import { mutations } from './mutations.ts';

const usage = `usage: npm run -s node -- test/crash-matrix/planted.ts [PART]
  PART  of the names of the bugs that are planted, default all
Exit status: 0 every bug was found, 1 one survived, 2 not understood.`;

const limitMs = 10 * 60_000;

type Found = { readonly code: number | null; readonly output: string };

async function matrix(tree: string, databaseUrl: string, row: string): Promise<Found> {
  const args = ['test/crash-matrix/run.ts', '--row', row, '--first'];
  const env = { ...process.env, PARLEY_TEST_DATABASE_URL: databaseUrl };
  const signal = AbortSignal.timeout(limitMs);
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, args, { cwd: tree, env, signal, stdio: [...stdio] });
  let output = '';
  const take = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** What rows and the matrix say that is wrong without a kill. */
const unharmedWords =
  /^(.*(?:lies open|does not land|was not read|may still be|heard nothing|were told|charged).*)$/m;

/** Where it was ended, or what was wrong without. Null: it is not found. */
function finding({ code, output }: Found): string | null {
  if (code === 0) return null;
  const [, killed] = /: ended (.*)$/m.exec(output) ?? [];
  const [, unharmed] = unharmedWords.exec(output) ?? [];
  return killed ?? unharmed ?? null;
}

/** Names of what is planted. */
function understand(args: string[]): string[] | null {
  const options = { help: { type: 'boolean' } } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [part = '', more] = positionals;
  if (more !== undefined) throw new Misused(`one part of a name, and not "${more}" too`);
  const names = Object.keys(mutations);
  const wanted = names.filter((name) => name.includes(part));
  if (wanted.length > 0) return wanted;
  const all = names.map((name) => `  ${name}`).join('\n');
  throw new Misused(`no bug has "${part}" in its name; there are:\n${all}`);
}

async function run(names: readonly string[]): Promise<number> {
  const copied = copyOfTree();
  const cluster = await startCluster();
  let survived = 0;
  try {
    for (const name of names) {
      const { row = '', edits = [] } = mutations[name] ?? {};
      const takeOut = copied.plant(edits);
      const found = await matrix(copied.tree, cluster.adminUrl, row);
      takeOut();
      const by = finding(found);
      if (by === null) survived += 1;
      const why = by === null && found.code !== 0 ? found.output.slice(-600) : '';
      console.log(`${by === null ? 'SURVIVED' : 'found   '}  ${name}: ${by ?? why}`);
    }
  } finally {
    await cluster.stop();
    copied.remove();
  }
  console.log(`planted: ${names.length - survived} found, ${survived} survived`);
  return survived === 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
