// `npm run soak -- postgres`: a market on a primary with a standby. The primary is killed while RFQs
// are made, and the standby, which commits wait for, takes over with all that was answered. A replica
// that stands still, or that is gone, keeps no RFQ from the book.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newCustomer } from '../support/customers.ts';
import { agreed, type Deal, finish, fund, type Pair, shows, until } from '../support/deals.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { type Stage, startStage, through } from '../support/stage.ts';
import { ownPrograms, type Programs } from './programs.ts';
import { copyServer, makeServer, type Server, startServer } from './server.ts';

/** The duration of RFQs before and after the primary is killed. */
const loadMs = 8_000;
/** Between two RFQs; an account may have 1 000 that live. */
const paceMs = 25;

type Undo = (() => unknown)[];
type Scene = {
  readonly dir: string;
  readonly stage: Stage;
  /** Where the market has its database, whichever server that is. */
  readonly way: FaultProxy;
  readonly primary: Server;
  readonly replica: Server | null;
  readonly pair: Pair;
  readonly undo: Undo;
};

const standbyName = 'standby';

type Drill = {
  readonly env?: Readonly<Record<string, string>>;
  readonly withReplica?: true;
  readonly play: (scene: Scene) => Promise<string>;
};

async function begin(programs: Programs, { env = {}, withReplica }: Drill): Promise<Scene> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-failover-'));
  const undo: Undo = [() => rm(dir, { recursive: true, force: true })];
  const primary = await startServer(await makeServer(join(dir, 'primary'), programs));
  undo.unshift(() => primary.stop());
  const way = await faultProxy(primary.port);
  undo.unshift(() => way.close());
  const replica = withReplica ? await standbyOf({ dir, primary, undo }) : null;
  const stage = await startStage({
    env: {
      ...env,
      DATABASE_URL: through(primary.url, way),
      ...(replica === null ? {} : { DATABASE_READ_URL: replica.url }),
    },
  });
  undo.unshift(() => stage.close());
  await stage.startServer();
  const pair: Pair = [await newCustomer(stage, 'Ann'), await newCustomer(stage, 'Ben')];
  return { dir, stage, way, primary, replica, pair, undo };
}

/** A standby of the primary that has all of its log. */
async function standbyOf({ dir, primary, undo }: Pick<Scene, 'dir' | 'primary' | 'undo'>) {
  const place = await copyServer(join(dir, 'standby'), primary, standbyName);
  const standby = await startServer(place);
  undo.unshift(() => standby.stop());
  await until('the standby streams', async () => {
    const rows = await primary.sql(
      `select from pg_stat_replication where state = 'streaming'
        and replay_lsn >= pg_current_wal_lsn() - 65536`,
    );
    return rows.length > 0;
  });
  return standby;
}

async function post({ pair: [taker] }: Scene): Promise<string> {
  const { id } = await taker.client.createRfq({
    direction: 'sell_base',
    ttlSeconds: 86_400,
    baseAmount: '1000000000',
    baseAssetId: taker.assets.SOL.id,
    quoteAssetId: taker.assets.ETH.id,
  });
  return id;
}

/** RFQs one after the other, until it is told to stop. An RFQ without an answer promised nothing. */
function posting(scene: Scene) {
  const answered: string[] = [];
  let failed = 0;
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      try {
        answered.push(await post(scene));
      } catch {
        failed += 1;
      }
      await sleep(paceMs);
    }
  };
  const running = run();
  const stop = async () => {
    isOver = true;
    await running;
  };
  return { answered, failed: () => failed, stop };
}

async function synchronous(scene: Scene): Promise<string> {
  const { stage, way, primary, pair } = scene;
  const standby = await standbyOf(scene);
  await primary.sql(`alter system set synchronous_standby_names = '${standbyName}'`);
  await primary.sql('select pg_reload_conf()');
  await until('commits wait for the standby', async () => {
    const rows = await primary.sql(`select from pg_stat_replication where sync_state = 'sync'`);
    return rows.length === 1;
  });
  const deal = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, deal, 'initiator');
  const { answered, failed, stop } = posting(scene);
  await sleep(loadMs);
  const before = answered.length;
  assert.ok(before > 0);
  const killed = performance.now();
  await primary.kill();
  await standby.promote();
  way.pointTo(standby.port);
  await until('requests are answered again', async () => answered.length > before + 10);
  const away = Math.round((performance.now() - killed) / 100) / 10;
  await sleep(loadMs);
  await stop();
  for (const id of answered) assert.equal((await pair[0].client.rfq(id)).id, id);
  await settled(stage, deal);
  return `${answered.length} RFQs were answered and are there; away for ${away} s, ${failed()} failed`;
}

async function settled(stage: Stage, deal: Deal): Promise<void> {
  await finish(stage, deal);
  await shows(deal, 'it settles', ({ status }) => status === 'counterparty_claimed');
}

/** A replica that stands still, and one that is gone, keep nobody from the book as it is. */
async function replica(scene: Scene): Promise<string> {
  const { stage, pair } = scene;
  const standby = scene.replica as Server;
  const maker = pair[1];
  const isShown = async (id: string) =>
    (await maker.client.rfqs({ limit: 100 })).rfqs.some((each) => each.id === id);
  const shown = async (id: string) => {
    const began = performance.now();
    await until('the RFQ is in the book', () => isShown(id));
    return ((performance.now() - began) / 1_000).toFixed(1);
  };
  const soon = await shown(await post(scene));
  await standby.sql('select pg_wal_replay_pause()');
  const kept = await post(scene);
  assert.equal(await isShown(kept), false, 'the book is read from the replica');
  const late = await shown(kept);
  await standby.sql('select pg_wal_replay_resume()');
  await standby.kill();
  const gone = await shown(await post(scene));
  await settled(stage, await agreed(stage, pair, 'SOL', 'ETH'));
  return (
    `the book is read from it and shows an RFQ after ${soon} s; after ${late} s where its log ` +
    `stands still, and after ${gone} s where it is gone; swaps settle`
  );
}

const drills: Readonly<Record<string, Drill>> = {
  synchronous: { env: { PARLEY_KEEP_KEYS: '1' }, play: synchronous },
  replica: { withReplica: true, play: replica },
};

const programs = await ownPrograms();
if (programs === null) {
  console.error(
    'no PostgreSQL server with pg_basebackup is here: apt-get install postgresql, or name the ' +
      'folder of its programs by PARLEY_POSTGRES',
  );
  process.exit(1);
}
let failed = 0;
for (const [name, drill] of Object.entries(drills)) {
  let scene: Scene | null = null;
  try {
    scene = await begin(programs, drill);
    console.log(`failover: PostgreSQL ${programs.version}, ${name}: ${await drill.play(scene)}`);
  } catch (error) {
    failed += 1;
    console.error(`${name}:`, error);
  } finally {
    for (const step of scene?.undo ?? []) {
      await Promise.resolve(step()).catch((error: unknown) => console.error(error));
    }
  }
}
process.exit(failed === 0 ? 0 : 1);
