// What the dearest known request of each route takes, on a market with real nodes of Bitcoin and of
// an EVM chain: how long nothing else can be done, and what one key may buy of a core with it.

import type { FastifyInstance } from 'fastify';
import { solanaAdapter } from '../chains/solana/adapter.ts';
import { solanaChains } from '../chains/solana/policy.ts';
import { tronAdapter } from '../chains/tron/adapter.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { readSettings } from '../server/config.ts';
import { buildApp } from '../server/edge/app.ts';
import { freeMs } from '../server/edge/processor-time.ts';
import { startWorld, type World } from '../server/settle/testing/world.ts';
import { type Row, rowOf } from './report.ts';
import { askEverything } from './requests-asked.ts';
import { besides } from './requests-besides.ts';
import { type Figures, startMeter } from './requests-meter.ts';

const stallLimitMs = 50;
/** Of a core, for one key. */
const share = 0.2;
const nodeCalls: Readonly<Record<string, number>> = { buildFund: 8, broadcast: 12 };
/** Of these, what is beyond the first milliseconds of a request is charged to a bucket. */
const charged = new Set(['broadcast', 'scheduleRefunds']);
/** As these requests are named. */
const claims = 'a claim';

export async function benchRequests({ rounds }: { readonly rounds: number }): Promise<Row[]> {
  const unlimited = { rateLimit: 10_000_000, mintLimit: 1_000_000, listingLimit: 1_000_000 };
  const started = await startWorld({ settings: unlimited });
  const app = await appOf(started);
  const world: World = { ...started, app };
  try {
    const meter = startMeter();
    // What is compiled while it first runs is not what a market in use takes.
    await askEverything(world, (_, work) => work());
    for (let round = 0; round < rounds; round += 1) {
      await askEverything(world, meter.measure);
      await askEverything(world, meter.watch);
    }
    return rowsOf(app, meter.figures());
  } finally {
    await app.close();
    await started.close();
  }
}

/** With chains whose nodes are away: what they are sent is read all the same. */
function appOf({ deps }: World): Promise<FastifyInstance> {
  const away = 'http://127.0.0.1:9';
  const tron = tronAdapter({
    chain: 'tron-dev',
    deployment: {
      chainId: 7,
      contract: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
      creation: '00'.repeat(32),
    },
    sources: [{ url: away }],
    policy: tronDevPolicy,
    http: { rounds: 1 },
  });
  const solana = solanaAdapter({
    chain: 'solana-dev',
    rpcUrls: [away],
    policy: solanaChains['solana-dev'].policy,
    mostDriftSeconds: 60,
    genesisHash: null,
    now: () => Math.floor(deps.now() / 1_000),
    rpc: { rounds: 1 },
  });
  const adapters = new Map([...deps.adapters, [tron.chain, tron], [solana.chain, solana]]);
  // A clock that stands: nothing is charged, so that everything can be asked often.
  return buildApp({ ...deps, adapters }, { processorClock: () => 0 });
}

function rowsOf(app: FastifyInstance, figures: ReadonlyMap<string, Figures>): Row[] {
  const all = [...figures].map(([name, each]) => {
    const [operation = '', ...what] = name.split(': ');
    return { operation, what: what.join(': '), ...each };
  });
  const routes = app.edge.operations.map(({ operationId, method, url }) => ({
    operationId,
    route: `${method} ${url}`,
  }));
  const others = Object.entries(besides).map(([name, { is }]) => ({
    operationId: name,
    route: is,
  }));
  return [...routes, ...others].flatMap(({ operationId, route }) => {
    const own = all.filter(({ operation }) => operation === operationId);
    const by = (pick: (figures: Figures) => number) =>
      own.toSorted((one, other) => pick(other) - pick(one))[0];
    const [longest, dearest] = [by(({ stallMs }) => stallMs), by((each) => each.processorMs)];
    if (longest === undefined || dearest === undefined) {
      throw new Error(`${operationId} has no dearest request here`);
    }
    const row = { bench: 'requests', bar: 1, is: 'atMost' } as const;
    const asked = own.filter(({ what }) => operationId !== 'broadcast' || what.startsWith(claims));
    const most = nodeCalls[operationId];
    const of = ` (${claims})`;
    return [
      rowOf({
        ...row,
        row: `${route}: longest stall (${longest.what})`,
        value: longest.stallMs,
        unit: 'ms',
        limit: stallLimitMs,
        against: 'the limit',
      }),
      rowOf({
        ...row,
        row: `${route}: processor (${dearest.what})`,
        value: dearest.processorMs,
        unit: 'ms',
        ...processorLimit(operationId),
        against: `${aboutProcessor(operationId)}; ${also(dearest)}`,
      }),
      ...(most === undefined
        ? []
        : [
            rowOf({
              ...row,
              row: `${route}: exchanges with nodes${operationId === 'broadcast' ? of : ''}`,
              value: Math.max(...asked.map(({ nodeCalls: calls }) => calls)),
              unit: 'calls',
              limit: most,
              against: 'the limit',
            }),
          ]),
    ];
  });
}

const { rateLimit } = readSettings({});
const perRequestMs = (share * 60_000) / rateLimit;

function processorLimit(operationId: string): { readonly limit: number } {
  const { mostMs } = besides[operationId] ?? {};
  // A tenth of a core for the free parts of all requests, a tenth for what is charged.
  const many = charged.has(operationId) ? (share * 60_000) / 20 : perRequestMs;
  return { limit: mostMs ?? many };
}

function aboutProcessor(operationId: string): string {
  if (besides[operationId]?.mostMs !== undefined) return 'what a thread may work for it';
  return charged.has(operationId)
    ? `twenty of them a minute in a fifth of a core; beyond ${freeMs} ms it is charged`
    : `a fifth of a core at ${rateLimit} a minute`;
}

function also({ nodeCalls: calls, statements }: Figures): string {
  return `${calls} exchanges with nodes, ${statements} SQL statements`;
}
