// `npm run soak -- alerts`: a real market and a real Prometheus with the rules of ops/. Each thing
// that an alert names is broken, until the alert fires, and mended, until it ends. Prints a table.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { privateKeyToAddress } from 'viem/accounts';
import { foundryBinary } from '../../contracts/evm/anvil.ts';
import { rpcTo } from '../../devnet/rpc.ts';
import { freePort } from '../../host/free-port.ts';
import { parsed, understood } from '../../scripts/command.ts';
import { newCustomer } from '../support/customers.ts';
import { agreed, type Deal, type Pair } from '../support/deals.ts';
import { portOf, type Stage, startStage } from '../support/stage.ts';
import { type FiringAlert, type RunningPrometheus, startPrometheus } from './prometheus.ts';

const usage = `usage: npm run node -- test/alerts-soak/run.ts [--only PATTERN]
  --only  the faults whose names fit this regular expression
Exit status: 0 every alert fired and ended, 1 one did not, 2 not understood.`;

/** Nodes are looked at once a minute, and the machine is shared. */
const longestWaitMs = 240_000;

type Scene = {
  readonly stage: Stage;
  readonly prometheus: RunningPrometheus;
  readonly deal: Deal;
  readonly pair: Pair;
  /** To the database, past the way that faults break. */
  readonly admin: pg.Client;
  readonly gas: { readonly address: string };
};

/** Breaks something, and gives what mends it. */
type Fault = {
  readonly name: string;
  readonly alerts: readonly Partial<FiringAlert>[];
  readonly breaks: (scene: Scene) => Promise<() => Promise<unknown>>;
};

const faults: readonly Fault[] = [
  {
    name: 'a gas key without coins',
    alerts: [{ alertname: 'ParleyKeeperGasLow', chain: 'evm-dev' }],
    breaks: async ({ stage, gas }) => {
      return () => stage.dev.faucet({ chain: 'evm-dev', address: gas.address, amount: 10n ** 19n });
    },
  },
  {
    name: 'the second node of TRON is gone',
    alerts: [{ alertname: 'ParleyNodeSilent', chain: 'tron-dev', node: '2' }],
    breaks: async ({ stage }) => {
      stage.nodes.tron[1].fail({ kind: 'cut' });
      return async () => stage.nodes.tron[1].heal();
    },
  },
  {
    name: 'the second EVM node is on a fork',
    alerts: [{ alertname: 'ParleyNodesDisagree', chain: 'evm-dev' }],
    breaks: forkedNode,
  },
  {
    name: 'both ways to Bitcoin are gone',
    alerts: [
      { alertname: 'ParleyChangeUnreconciled', chain: 'bitcoin-regtest' },
      { alertname: 'ParleyChainLate', chain: 'bitcoin-regtest' },
    ],
    breaks: async ({ stage }) => {
      for (const way of stage.nodes.bitcoin) way.fail({ kind: 'cut' });
      return async () => {
        for (const way of stage.nodes.bitcoin) way.heal();
        await stage.dev.mine('bitcoin-regtest', 1);
      };
    },
  },
  {
    name: 'an operator halts TRON',
    alerts: [{ alertname: 'ParleyChainHalted', chain: 'tron-dev' }],
    breaks: async ({ admin }) => {
      await admin.query(`insert into halts (chain, reason, at) values ('tron-dev', 'soak', now())`);
      await admin.query(`select pg_notify('parley_work', 'halts')`);
      return () => admin.query(`delete from halts where chain = 'tron-dev'`);
    },
  },
  {
    name: 'nobody hands out events for webhooks',
    alerts: [{ alertname: 'ParleyEventsWaiting', audience: 'webhooks' }],
    breaks: async ({ stage, pair, admin }) => {
      const lock = `hashtext('webhook deliveries')`;
      await admin.query(`select pg_advisory_lock(${lock})`);
      await agreed(stage, pair, 'SOL', 'ETH');
      return () => admin.query(`select pg_advisory_unlock(${lock})`);
    },
  },
  {
    name: 'receivers of six accounts refuse, and then nobody may deliver',
    alerts: [{ alertname: 'ParleyWebhooksFailing' }, { alertname: 'ParleyWebhooksBehind' }],
    breaks: async ({ stage, pair, admin }) => {
      const pairs = [pair, await newPair(stage), await newPair(stage)];
      stage.receiver.answer(500);
      for (const each of pairs) await agreed(stage, each, 'SOL', 'ETH');
      const failing = 'select 1 from webhooks where failing_since is not null';
      while (((await admin.query(failing)).rowCount ?? 0) < 2 * pairs.length) await sleep(100);
      await admin.query('begin');
      await admin.query(`select 1 from deliveries where state = 'waiting' for update`);
      return async () => {
        stage.receiver.answer(200);
        await admin.query('rollback');
      };
    },
  },
  {
    name: 'the database takes what is sent and says nothing',
    alerts: [{ alertname: 'ParleyDatabaseDown' }, { alertname: 'ParleyErrors' }],
    breaks: async ({ stage, pair }) => {
      stage.database.fail({ kind: 'mute' });
      const asking = new AbortController();
      const asked = ask(stage.url, pair[0].key, asking.signal);
      return async () => {
        asking.abort();
        stage.database.heal();
        await asked;
      };
    },
  },
  {
    name: 'the process is held up, again and again',
    alerts: [{ alertname: 'ParleyEventLoopSlow' }],
    breaks: async ({ stage }) => {
      const over = new AbortController();
      const held = holdUp(stage.servers[0]!.market.child, over.signal);
      return () => {
        over.abort();
        return held;
      };
    },
  },
  {
    name: 'the process is killed',
    alerts: [{ alertname: 'ParleyProcessDown' }],
    breaks: async ({ stage }) => {
      await stage.servers[0]?.kill();
      return () => stage.startServer();
    },
  },
  {
    // The last: it moves every clock.
    name: 'a swap is held, and its time goes by',
    alerts: [{ alertname: 'ParleyStepsOverdue', step: 'reconcile' }],
    breaks: async ({ stage, deal, admin }) => {
      await admin.query('begin');
      await admin.query('select 1 from swaps where id = $1 for update', [deal.id]);
      const { rows } = await admin.query('select due_at::int as at from swaps where id = $1', [
        deal.id,
      ]);
      await stage.move((rows[0] as { at: number }).at - stage.now() + 90);
      return () => admin.query('rollback');
    },
  },
];

const newPair = async (stage: Stage): Promise<Pair> => [
  await newCustomer(stage, 'Cat'),
  await newCustomer(stage, 'Dan'),
];

/** Past the bound of the rule; and the whole of it twice in what Prometheus reads at once. */
const heldMs = 320;
const freeMs = 160;

/**
 * Turns of the event loop that end in a reading are what counts: each reading must have one that
 * was held up, and the process time enough between them to be read.
 */
async function holdUp(child: ChildProcess, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    child.kill('SIGSTOP');
    await sleep(heldMs);
    child.kill('SIGCONT');
    await sleep(freeMs);
  }
}

/** Another node of the same chain with blocks of its own from now on. */
async function forkedNode({ stage }: Scene): Promise<() => Promise<unknown>> {
  const [, second] = stage.nodes.evm;
  const { rpcUrl } = stage.place.evm;
  const port = await freePort();
  const args = ['--host', '127.0.0.1', '--port', String(port), '--fork-url', rpcUrl];
  const anvil = spawn(foundryBinary('anvil'), [...args, '--quiet', '--no-storage-caching'], {
    stdio: 'ignore',
  });
  const rpc = rpcTo(`http://127.0.0.1:${port}`);
  for (let tries = 0; ; tries += 1) {
    const isThere = await rpc('eth_chainId').then(
      () => true,
      () => false,
    );
    if (isThere) break;
    if (tries > 300) throw new Error('the forked anvil did not get ready');
    await sleep(100);
  }
  // More than the doctor leaves out at the top.
  await rpc('anvil_mine', ['0x14']);
  await stage.dev.mine('evm-dev', 20);
  second.pointTo(port);
  return async () => {
    second.pointTo(portOf(rpcUrl));
    anvil.kill('SIGTERM');
    await once(anvil, 'exit');
  };
}

/** Requests that need the database, one after the other, whatever they are answered. */
async function ask(url: string, key: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const headers = { authorization: `Bearer ${key}` };
    await fetch(`${url}/v1/rfqs?role=creator`, { headers, signal }).catch(() => {});
    await sleep(200);
  }
}

const isOne = (wanted: Partial<FiringAlert>) => (alert: FiringAlert) =>
  Object.entries(wanted).every(([name, value]) => alert[name] === value);

/** Seconds until it is so; null: it never was. */
async function until(
  prometheus: RunningPrometheus,
  wanted: Partial<FiringAlert>,
  fires: boolean,
): Promise<number | null> {
  const began = performance.now();
  while (performance.now() - began < longestWaitMs) {
    if ((await prometheus.firing()).some(isOne(wanted)) === fires) {
      return Math.round((performance.now() - began) / 1_000);
    }
    await sleep(250);
  }
  return null;
}

async function play(scene: Scene, { name, alerts, breaks }: Fault): Promise<boolean> {
  const { prometheus } = scene;
  const mend = await breaks(scene);
  const fired = await Promise.all(alerts.map((each) => until(prometheus, each, true)));
  await mend();
  const ended = await Promise.all(alerts.map((each) => until(prometheus, each, false)));
  const told = (seconds: number | null | undefined) => (seconds == null ? 'NEVER' : `${seconds} s`);
  for (const [at, { alertname = '' }] of alerts.entries()) {
    const times = `fired after ${told(fired[at])}, ended after ${told(ended[at])}`;
    console.log(`${alertname.padEnd(26)} ${name}: ${times}`);
  }
  return [...fired, ...ended].every((each) => each !== null);
}

const asked = understood({
  usage,
  understand: (args) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : { only: new RegExp(values.only) };
  },
});

const dir = await mkdtemp(join(tmpdir(), 'parley-alerts-'));
const undo: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })];
let failed = 0;
let played = 0;
try {
  const key = `0x${randomBytes(32).toString('hex')}` as const;
  const keyFile = join(dir, 'gas.key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const token = randomBytes(32).toString('hex');
  await writeFile(join(dir, 'token'), token, { mode: 0o600 });
  const metricsPort = await freePort();
  const keeper = [{ chain: 'evm-dev', keyFile, dailyCap: `${10n ** 18n}` }];
  const stage = await startStage({
    env: {
      PARLEY_METRICS_PORT: String(metricsPort),
      PARLEY_METRICS_TOKEN_FILE: join(dir, 'token'),
      PARLEY_KEEPER: JSON.stringify(keeper),
    },
  });
  undo.unshift(() => stage.close());
  await stage.startServer();
  const pair: Pair = [await newCustomer(stage, 'Ann'), await newCustomer(stage, 'Ben')];
  const deal = await agreed(stage, pair, 'SOL', 'ETH');
  const admin = new pg.Client({ connectionString: stage.postgres?.url });
  await admin.connect();
  undo.unshift(() => admin.end());
  const prometheus = await startPrometheus(metricsPort, token);
  undo.unshift(() => prometheus.stop());
  const gas = { address: privateKeyToAddress(key) };
  const scene = { stage, prometheus, deal, pair, admin, gas };
  for (const fault of faults.filter(({ name }) => asked.only.test(name))) {
    played += fault.alerts.length;
    if (!(await play(scene, fault))) failed += 1;
  }
} finally {
  for (const step of undo) await step();
}
console.log(`alerts: ${played} alerts, ${failed} faults that an alert missed`);
// A pattern that fits nothing has shown nothing.
process.exit(failed === 0 && played > 0 ? 0 : 1);
