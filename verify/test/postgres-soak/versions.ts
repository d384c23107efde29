// `npm run soak -- postgres`: schema, migrations and what the server asks its database, on a server
// of each version that is supported. The embedded one, which `npm test` has, is the newest.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsed, understood } from '@parley/host/command.ts';
import { ownPrograms, type Programs, packagedPrograms } from './programs.ts';
import { makeServer, startServer } from './server.ts';

const usage = `usage: npm run node -- verify/test/postgres-soak/versions.ts [--only VERSION]
  --only  versions that begin so, such as 16
Exit status: 0 all passed, 1 one did not, 2 not understood.`;

const root = join(import.meta.dirname, '../../..');
/** Rooms that depend on statements, locks and plans more than on the wire. */
const rooms = [
  'apps/market/db',
  'apps/market/restore',
  'apps/market/market',
  'apps/market/edge/idempotency',
];

const asked = understood({
  usage,
  understand: (args) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : values;
  },
});

type Counts = { readonly passed: number; readonly failed: number; readonly isWell: boolean };

/**
 * The counts of the tests on a server of these programs. One that is skipped or cut off has not
 * passed.
 */
async function testsOn(programs: Programs): Promise<Counts> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-postgres-'));
  const server = await startServer(await makeServer(join(dir, 'server'), programs));
  try {
    const admin = new URL(server.url);
    admin.pathname = '/postgres';
    const files = rooms.flatMap((room) => globSync(`${room}/**/*.test.ts`, { cwd: root })).sort();
    const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, PARLEY_TEST_DATABASE_URL: admin.href },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    const [status] = await once(child, 'close');
    const count = (what: string) => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1]);
    const passed = count('pass');
    const failed = count('fail');
    const isWell = status === 0 && passed > 0 && count('skipped') === 0;
    if (!isWell) console.log(output.slice(Math.max(0, output.indexOf('✖ failing tests'))));
    return { passed, failed, isWell };
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

const own = await ownPrograms();
const all = [...(await packagedPrograms()), ...(own === null ? [] : [own])];
let failures = 0;
const told: string[] = [];
for (const programs of all.filter(({ version }) => version.startsWith(asked.only))) {
  const { passed, failed, isWell } = await testsOn(programs);
  const line = `${programs.version} (${programs.from}): ${passed} passed, ${failed} failed`;
  console.log(`PostgreSQL ${line}`);
  told.push(line);
  if (!isWell) failures += 1;
}
console.log(`postgres: ${told.join('; ')}`);
process.exit(failures === 0 && told.length > 0 ? 0 : 1);
