// Faults of the database and of processes: out of connections, silent, hanging, held up, killed.

import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { probe, until } from '../support/deals.ts';
import { asking, type Fault, get, type Scene } from './scene.ts';

const path = '/v1/rfqs?role=creator';

export const processFaults: readonly Fault[] = [
  {
    name: 'somebody forgot eighty consoles of the database',
    alerts: [{ alertname: 'ParleyConnectionsFew' }],
    breaks: forgottenConsoles,
  },
  {
    name: 'a session of the database holds a table that requests want',
    alerts: [{ alertname: 'ParleyPoolExhausted' }],
    breaks: heldTable,
  },
  {
    name: 'the database takes what is sent and says nothing',
    alerts: [{ alertname: 'ParleyDatabaseDown' }, { alertname: 'ParleyErrors' }],
    blind: 'what the doctor reads is what does not answer',
    breaks: async ({ stage, pair }) => {
      stage.database.fail({ kind: 'mute' });
      const over = new AbortController();
      const asked = asking(over.signal, () => get(stage, pair[0], path, over.signal));
      return async () => {
        over.abort();
        stage.database.heal();
        await asked;
      };
    },
  },
  {
    name: 'a statement of a pass is never answered, and eleven minutes go by',
    alerts: [{ alertname: 'ParleyPassLate', service: 'messages' }],
    breaks: hangingPass,
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
    blind: 'nobody is there to be asked; what the service manager says is not of this soak',
    breaks: async ({ stage }) => {
      await stage.servers[0]?.kill();
      return () => stage.startServer();
    },
  },
];

/** More than a process has connections. */
const clients = 30;

/** Each posts a request again and again, which takes a connection for its transaction. */
async function heldTable({ stage, pair, admin }: Scene): Promise<() => Promise<unknown>> {
  await admin.query('begin');
  await admin.query('lock table rfqs in access exclusive mode');
  const over = new AbortController();
  const [who] = pair;
  const wanted = {
    direction: 'sell_base',
    baseAssetId: who.assets.SOL.id,
    baseAmount: '10000000000',
    quoteAssetId: who.assets.ETH.id,
    ttlSeconds: 60,
  };
  const all = Array.from({ length: clients }, () =>
    asking(over.signal, () => probe(stage, who, '/v1/rfqs', wanted)),
  );
  return async () => {
    over.abort();
    await admin.query('rollback');
    await Promise.all(all);
  };
}

/**
 * The part of the database's connections taken, with those of the market: more than nine tenths,
 * and not all.
 */
const share = 0.93;

async function forgottenConsoles({ stage, admin }: Scene): Promise<() => Promise<unknown>> {
  const { rows } = await admin.query<{ most: number; taken: number }>(`select
    current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int as most,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as taken`);
  const { most = 0, taken = 0 } = rows[0] ?? {};
  const all = Array.from({ length: Math.ceil(share * most) - taken }, () => {
    const application_name = 'forgotten console';
    const console = new pg.Client({ connectionString: stage.postgres?.url, application_name });
    // The operator ends it.
    console.on('error', () => {});
    return console;
  });
  await Promise.all(all.map((each) => each.connect()));
  return () =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'forgotten console'`);
}

async function hangingPass({ stage }: Scene): Promise<() => Promise<unknown>> {
  const hangs = new URL('./hanging-statement.ts', import.meta.url).href;
  await stage.servers[0]?.kill();
  const options = `${process.env.NODE_OPTIONS ?? ''} --import=${hangs}`;
  const { url } = await stage.startServer({ env: { NODE_OPTIONS: options } });
  await until('/readyz says it too', async () => {
    const reply = await fetch(`${url}/readyz`);
    return reply.status === 503 && /late: messages/.test(await reply.text());
  });
  return () => stage.restart();
}

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
