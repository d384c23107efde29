// Plants one bug after the other in a copy of the tree and lets the crash matrix look for it:
// prints where each was found. One that is not found is printed, and the exit status is 1.
//
//   npm run -s node -- test/crash-matrix/mutations.ts             all of them
//   npm run -s node -- test/crash-matrix/mutations.ts keeper      those whose name has this
//   npm run -s node -- test/crash-matrix/mutations.ts --help      the rest

import { spawn } from 'node:child_process';
import { Misused, parsed, runCommand } from '../../scripts/command.ts';
import { startCluster } from '../support/cluster.ts';
import { copyOfTree, type Edit, edit } from '../support/planted.ts';

const usage = `usage: npm run -s node -- test/crash-matrix/mutations.ts [PART]
  PART  of the names of the bugs that are planted, default all
Exit status: 0 every bug was found, 1 one survived, 2 not understood.`;

const limitMs = 10 * 60_000;

/** The rows that are run, and what is wrong. */
type Mutation = { readonly row: string; readonly edits: readonly Edit[] };

const mutations: Readonly<Record<string, Mutation>> = {
  'once: the reply in another transaction than its effect': {
    row: 'POST /v1/rfqs: public',
    edits: [
      edit('server/edge/once.ts')(
        'await storeReply(deps, tx, slot, result, steps.secret);',
        'void storeReply(deps, deps.db, slot, result, steps.secret);',
      ),
    ],
  },
  'agreement: events outside of the transaction': {
    row: 'accept: the counterparty, last',
    edits: [
      edit('server/market/agreement.ts')(
        'await insertOutbox(\n    tx,',
        'void insertOutbox(\n    deps.db,',
      ),
    ],
  },
  'reconcile: events outside of the transaction': {
    row: 'settlement.pass: a funding',
    edits: [
      edit('server/settle/reconcile.ts')(
        'await insertOutbox(\n    tx,',
        'void insertOutbox(\n    deps.db,',
      ),
    ],
  },
  'nonces: used up for good before the proof is stored': {
    row: 'POST /v1/wallets/evm',
    edits: [edit('server/db/nonces.ts')('(used_at is null or used_by = $5)', 'used_at is null')],
  },
  'webhooks: delivered before it is sent': {
    row: 'delivering.pass: events',
    edits: [
      edit('server/webhooks/deliver.ts')(
        '  const ended = await attempt(deps, due, due, send);',
        `  const at = new Date(deps.now());
  const early = { startedAt: at, endedAt: at, status: 200, error: null, delivered: true };
  const about = { id: due.id, webhookId: due.webhookId, attempt: due.attempts + 1, nextAt: null };
  await storeOutcome(deps.db, { ...early, ...about });
  const ended = await attempt(deps, due, due, send);`,
      ),
    ],
  },
  'webhooks: the outbox is emptied before': {
    row: 'delivering.pass: events',
    edits: [
      edit('server/webhooks/hand-out.ts')(
        'await insertDeliveries(tx, deliveries, new Date(now));',
        'void insertDeliveries(deps.db, deliveries, new Date(now));',
      ),
    ],
  },
  'webhooks: a ping has another id at each try': {
    row: 'POST /v1/webhooks/{id}/ping',
    edits: [
      edit('server/webhooks/ping.ts')(
        'tried === null ? uuidv7(at.getTime(), deps.randomBytes) : uuidOf(tried)',
        'uuidv7(at.getTime(), deps.randomBytes); void uuidOf; void tried',
      ),
    ],
  },
  'webhooks: a stored reply shows the secret': {
    row: 'POST /v1/webhooks',
    edits: [
      edit('server/edge/routes/webhooks.ts')(
        '    secret: true,\n    run: async (tx',
        '    run: async (tx',
      ),
    ],
  },
  'broadcast: a secret is stored before it is sent': {
    row: 'broadcast: claim, revealing',
    edits: [
      edit('server/settle/broadcast.ts')(
        '  const fundings = touched.filter(',
        `  for (const { touch, swap } of touched) {
    if (touch.secret === null) continue;
    const text = 'update swaps set secret = $2 where id = $1';
    await deps.db.rows({ name: 'early', text, values: [swap.id, touch.secret] });
  }
  const fundings = touched.filter(`,
      ),
    ],
  },
  'keeper: the secret of a relay is not sealed': {
    row: 'claim: relayed',
    edits: [
      edit('server/keeper/sealing.ts')(
        'return keyringOf(settings).encrypt(Buffer.from(secret));',
        'const { version } = keyringOf(settings).encrypt(Buffer.from(secret));\n' +
          '  return { version, sealed: Buffer.from(secret) };',
      ),
    ],
  },
  'migrations: each statement by itself': {
    row: 'start: migrations',
    edits: [
      edit('server/db/migrate.ts')("await client.query('begin');", ''),
      edit('server/db/migrate.ts')("await client.query('commit');", ''),
    ],
  },
};

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

/** Where it was ended, or what was wrong without. Null: it is not found. */
function finding({ code, output }: Found): string | null {
  if (code === 0) return null;
  const [, killed] = /: ended (.*)$/m.exec(output) ?? [];
  const [, unharmed] = /^Error: (.*(?:lies open|not once).*)$/m.exec(output) ?? [];
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
  console.log(`planted bugs: ${names.length - survived} found, ${survived} survived`);
  return survived === 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
