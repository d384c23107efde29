// `npm run soak -- upgrade`: three processes of the version before, behind a balancer and under
// load. Each in turn is stopped and replaced by one of this version, of which the first migrates
// while two old ones work; and then back again. No request may fail that was not told to come
// again, and no socket may miss an entry. No webhook may lack. Swaps in every state come to their
// end.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { SwapStatus } from '../../core/status.ts';
import { parsed, understood } from '../../scripts/command.ts';
import { knows } from '../../server/db/version.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import {
  agreed,
  type Deal,
  deep,
  finish,
  fund,
  heard,
  offer,
  type Pair,
  runUntil,
  shows,
  until,
} from '../support/deals.ts';
import { type Server, type Stage, startStage } from '../support/stage.ts';
import { lostOf } from './asking.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type Former, layDownFormer } from './former.ts';
import { type Load, startLoad } from './load.ts';

const usage = `usage: npm run node -- test/upgrade-soak/run.ts [--from COMMIT]
  --from  the version before: a commit or tag; default the newest release, else the last commit
          on the first-parent history before the newest migration
Exit status: 0 nothing was lost, 1 something was, 2 not understood.`;

const processes = 3;
const drainSeconds = 2;

const asked = understood({
  usage,
  understand: (args) => {
    const options = { from: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : values;
  },
});

type Version = { readonly name: string; readonly main?: string };
type Scene = {
  readonly stage: Stage;
  readonly balancer: Balancer;
  readonly load: Load;
  /** As they stand in the balancer. */
  readonly running: Server[];
};

/** What it said of its migrations. */
function migratedBy({ market }: Server): string {
  const [line] = market.log().match(/^.*the database was migrated.*$/m) ?? [];
  if (line === undefined) return '';
  const { migrations, milliseconds } = JSON.parse(line) as {
    migrations: readonly string[];
    milliseconds: number;
  };
  return `, migrated (${migrations.join(', ')}) in ${(milliseconds / 1_000).toFixed(1)} s`;
}

const enter = async ({ stage, balancer }: Pick<Scene, 'stage' | 'balancer'>, version: Version) => {
  const server = await stage.startServer(version.main === undefined ? {} : { main: version.main });
  balancer.add(server.port);
  await until('the balancer finds it ready', async () => balancer.isReady(server.port));
  return server;
};

/** One process after the other is told to stop, and one of that version takes its place. */
async function replaceAll(scene: Scene, version: Version): Promise<void> {
  const { stage, balancer, load, running } = scene;
  for (const at of running.keys()) {
    const before = running[at] as Server;
    const answered = load.counts.answered;
    const began = performance.now();
    assert.equal(await before.market.stop(), 0, 'it drained and ended by itself');
    balancer.remove(before.port);
    const stopped = performance.now();
    running[at] = await enter({ stage, balancer }, version);
    // Its log was looked at as long as it ran.
    assert.doesNotMatch(before.market.log(), /"msg":"request failed"/);
    stage.servers.splice(stage.servers.indexOf(before), 1);
    const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1);
    console.log(
      `process ${at + 1} is ${version.name}: ended in ${seconds(began, stopped)} s, ready in ` +
        `${seconds(stopped, performance.now())} s, others answered ` +
        `${load.counts.answered - answered} requests${migratedBy(running[at])}`,
    );
    assert.ok(load.counts.answered > answered, 'others answer meanwhile');
  }
}

type Deals = {
  /** To be settled by both. */
  readonly open: readonly Deal[];
  /** Whose counterparty never funds. */
  readonly abandoned: Deal;
  /** Accepted by the taker alone. */
  readonly halfAccepted: () => Promise<Deal['id']>;
};

/** A swap in each state in which one may be when its market is replaced. */
async function inEveryState(stage: Stage, pair: Pair): Promise<Deals> {
  const bare = await agreed(stage, pair, 'SOL', 'ETH');
  const half = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, half, 'initiator');
  const whole = await agreed(stage, pair, 'ETH', 'SOL');
  await fund(stage, whole, 'both');
  const bitcoin = await agreed(stage, pair, 'BTC', 'ETH');
  await fund(stage, bitcoin, 'initiator');
  const claimed = await agreed(stage, pair, 'ETH', 'SOL');
  await fund(stage, claimed, 'both');
  await runUntil(stage, claimed, 'taker', deep('a', 'claim'));
  const abandoned = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, abandoned, 'initiator');
  console.log('swaps stand in every state');
  const made = await offer(stage, pair, 'SOL', 'ETH');
  await made.accept(pair[0]);
  const halfAccepted = async () => {
    const { swapId } = await made.accept(pair[1]);
    assert.ok(swapId !== null, 'what the taker accepted at an old process makes a swap');
    return swapId;
  };
  return { open: [bare, half, whole, bitcoin, claimed], abandoned, halfAccepted };
}

async function settleAll(stage: Stage, deals: readonly Deal[]): Promise<void> {
  for (const deal of deals) {
    await finish(stage, deal);
    await ends(stage, deal, 'counterparty_claimed', 'swap.settled');
  }
}

/** Both were told. What moved is not counted: both have several swaps at once. */
async function ends(stage: Stage, deal: Deal, end: SwapStatus, event: string): Promise<void> {
  await shows(deal, `it ends as ${end}`, ({ status }) => status === end);
  for (const { who } of [deal.taker, deal.maker]) {
    await until(`${who.name} is told ${event}`, async () =>
      heard(stage, who, deal.id).some(({ type }) => type === event),
    );
  }
}

/** What the schema asks of a version that is to come back. */
async function leastKnown(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select coalesce(max(compatible_from), '000') as least from migrations`,
    );
    return rows[0].least;
  } finally {
    await client.end();
  }
}

async function downgrade(scene: Scene, former: Former, name: string): Promise<string> {
  const least = await leastKnown(scene.stage.postgres?.url ?? '');
  if (least <= former.knows) {
    await replaceAll(scene, { name, main: former.main });
    return 'went back';
  }
  await assert.rejects(scene.stage.startServer({ main: former.main }), ({ message }: Error) => {
    const [line = ''] = /not started: .*/.exec(message) ?? [];
    console.log(line);
    return line.includes(`only with versions that know ${least}`);
  });
  return `is refused to go back: ${least} is needed`;
}

async function play(dir: string, undo: (() => Promise<unknown>)[]): Promise<string> {
  const former = await layDownFormer(join(dir, 'former'), asked.from);
  const name = `of ${former.commit} (knows ${former.knows})`;
  const old: Version = { name, main: former.main };
  console.log(`the version before is ${name}, this one knows ${knows}`);
  const stage = await startStage({
    env: {
      PARLEY_DRAIN_SECONDS: String(drainSeconds),
      PARLEY_TRUSTED_PROXIES: '127.0.0.1',
      PARLEY_LOG_LEVEL: 'info',
    },
  });
  undo.unshift(() => stage.close());
  const balancer = await startBalancer();
  undo.unshift(() => balancer.close());
  const running: Server[] = [];
  while (running.length < processes) running.push(await enter({ stage, balancer }, old));
  const ground: Stage = Object.assign(Object.create(stage), { url: balancer.url });
  const customer = (who: string): Promise<Customer> => newCustomer(ground, who);
  const pair: Pair = [await customer('Ann'), await customer('Ben')];
  const taker = await customer('Cleo');
  const maker = await customer('Dan');
  const deals = await inEveryState(ground, pair);
  const load = startLoad({ url: balancer.url, taker, maker, listening: await customer('Eve') });
  undo.unshift(() => load.stop());
  const scene: Scene = { stage, balancer, load, running };

  await replaceAll(scene, { name: `of this version (knows ${knows})` });
  const late = await deals.halfAccepted();
  assert.equal((await pair[0].client.swap(late)).id, late);
  await settleAll(ground, deals.open.slice(0, 3));
  const between = await agreed(ground, pair, 'SOL', 'ETH');
  await fund(ground, between, 'initiator');
  const back = await downgrade(scene, former, name);
  await settleAll(ground, [...deals.open.slice(3), between]);
  await load.stop();
  const counts = await load.check(stage);
  assert.equal(lostOf(load.counts), 0, JSON.stringify([...load.counts.lost]));

  const { refundAt } = (await pair[0].client.swap(deals.abandoned.id)).deadlines;
  await stage.move(refundAt.b - stage.now() + 120);
  await finish(ground, deals.abandoned);
  await ends(ground, deals.abandoned, 'refunded', 'swap.refunded');
  return `${name} ${back}; ${counts}; 7 swaps came to their end`;
}

const dir = await mkdtemp(join(tmpdir(), 'parley-upgrade-'));
const undo: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })];
let failed = false;
try {
  console.log(`upgrade: ${await play(dir, undo)}`);
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  for (const step of undo) await step().catch((error: unknown) => console.error(error));
}
process.exit(failed ? 1 : 0);
