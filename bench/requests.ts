// The cost of the dearest known request of each route, on a market with real nodes of Bitcoin and
// of an EVM chain: how long nothing else can be done, and what one key may buy of a core with it.

import { solanaAdapter } from '@parley/chains/solana/adapter.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { partyLimit, quotesOfRequest } from '@parley/market/edge/budgets.ts';
import { freeMs } from '@parley/market/edge/processor-time.ts';
import { mostWithdrawn } from '@parley/market/market/bounds.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import type { World } from '@parley/market/settle/testing/world.ts';
import type { FastifyInstance } from 'fastify';
import { bars } from './bars.ts';
import { isMiniature } from './miniature.ts';
import { atMost, type Row } from './report.ts';
import { askBesides, askEverything, besides } from './requests-asked.ts';
import { isOfPair, startFamilies } from './requests-families.ts';
import { fillMarket } from './requests-full.ts';
import { type Figures, type Meter, startMeter } from './requests-meter.ts';
import { setWorld } from './stage.ts';

const { stallMs: stallLimitMs, chargedMs: chargedLimitMs } = bars.requests;
/**
 * Exchanges with nodes, of what a swap needs. An exchange is one HTTP request, which a batch of
 * questions is too; how many questions were in them is told beside it. With one node a chain: a
 * second one is asked by itself whether it agrees.
 */
const exchangesOf: Readonly<Record<string, number>> = {
  buildFund: bars.requests.fundExchanges,
  broadcast: bars.requests.claimExchanges,
};
/** Requests whose processor time is charged to a bucket, beyond their first milliseconds. */
const isCharged = (operation: string, what: string) =>
  (operation === 'broadcast' && what.startsWith('a PSBT')) || / (claims|refunds) of \d/.test(what);
/** As the requests are named that have a limit of exchanges. */
const isCounted = (what: string) => /^(as a swap needs it )?on |^a claim /.test(what);

export async function benchRequests({ rounds }: { readonly rounds: number }): Promise<Row[]> {
  // The webhooks' addresses have no listener.
  const started = await setWorld();
  const app = await appOf(started);
  const world: World = { ...started, app };
  const families = await startFamilies();
  try {
    const full = await fillMarket(world);
    const meter = startMeter();
    const ask = async (measure: Meter['measure']) => {
      await askEverything(world, full, measure);
      await families.ask(measure);
      await askBesides(world, measure);
    };
    if (isMiniature) {
      await ask((name, work) => meter.watch(name, () => meter.measure(name, work)));
      return rowsOf(app, meter.figures());
    }
    // The code compiled during a first run is not part of the cost of a market in use.
    await ask((_, work) => work());
    for (let round = 0; round < rounds; round += 1) {
      await ask(meter.measure);
      await ask(meter.watch);
    }
    return rowsOf(app, meter.figures());
  } finally {
    await families.stop();
    await app.close();
    await started.stop();
  }
}

/** With chains whose nodes are away: the market reads their requests all the same. */
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
  // A clock that stands: no request is charged, so that everything can be asked often.
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
    const asked = all.filter(({ operation }) => operation === operationId);
    // The time that simulators take of this process is not the market's.
    const own = asked.filter(({ what }) => !isOfPair(what));
    const most = (pick: (figures: Figures) => number, of = own) =>
      of.toSorted((one, other) => pick(other) - pick(one))[0];
    const longest = most(({ stallMs }) => stallMs);
    if (longest === undefined) throw new Error(`${operationId} has no dearest request here`);
    const dearest = [false, true].flatMap((charged) => {
      const of = own.filter(({ what }) => isCharged(operationId, what) === charged);
      return most(({ processorMs }) => processorMs, of) ?? [];
    });
    const mostExchanges = exchangesOf[operationId];
    const counted = asked.filter(({ what }) => mostExchanges !== undefined && isCounted(what));
    const leftOut = own.length < asked.length ? `; ${outside}` : '';
    const rowOf = (what: string, value: number, unit: string, limit: number, about: string) =>
      atMost(`requests: ${route}: ${what}`, { value, unit, limit, bar: 1 }, about);
    const stall = `longest stall (${longest.what})`;
    return [
      rowOf(stall, longest.stallMs, 'ms', stallLimitMs, `the limit${leftOut}`),
      ...dearest.map((each) => {
        const { limit, about } = processorLimit(operationId, each.what);
        const against = `${about}; ${also(each)}${leftOut}`;
        return rowOf(`processor (${each.what})`, each.processorMs, 'ms', limit, against);
      }),
      ...counted.map(({ what, exchanges, nodeCalls }) => {
        const name = `exchanges with nodes (${what})`;
        const against = `the bar; ${nodeCalls} questions in them`;
        return rowOf(name, exchanges, 'exchanges', mostExchanges ?? 0, against);
      }),
    ];
  });
}

const outside = 'swaps with TRON or Solana left out: their nodes are simulated in this process';

const { rateLimit } = readSettings({});

function processorLimit(operationId: string, what: string): { limit: number; about: string } {
  const { mostMs } = besides[operationId] ?? {};
  if (mostMs !== undefined) return { limit: mostMs, about: 'an account asks for 20 an hour' };
  if (what === `${mostWithdrawn} quotes`) {
    const limit = (freeMs * mostWithdrawn) / quotesOfRequest;
    return { limit, about: `as many quotes are the budget of ${limit / freeMs} requests` };
  }
  if (isCharged(operationId, what)) {
    return {
      limit: chargedLimitMs,
      about: 'twenty of them a minute are a fifth of a core, charged',
    };
  }
  // A party's reserve comes on top of its budget, and what is charged on top of both.
  const about =
    `a tenth of a core at ${rateLimit} a minute, and another for the ${partyLimit} that a party ` +
    'of open swaps keeps';
  return { limit: freeMs, about };
}

function also({ exchanges, statements }: Figures): string {
  return `${exchanges} exchanges with nodes, ${statements} SQL statements`;
}
