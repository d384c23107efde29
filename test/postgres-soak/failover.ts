// `npm run soak -- failover`: two market processes under load on a primary with a standby. The
// primary is killed, and the standby takes over. Waited for (synchronous), it has all that was
// answered. Not waited for, it lacks the last moments: the market notices, revokes keys and agrees
// on nothing before an operator goes on (docs/restore.md). Then a database that somebody
// emptied is brought back to the moment before, from a base backup and the archive.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsed, understood } from '../../scripts/command.ts';
import { walletsOf } from '../../scripts/demo/people.ts';
import { parleyClient } from '../../sdk/client.ts';
import { mintKey } from '../../sdk/keys.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import {
  agreed,
  type Deal,
  finish,
  fund,
  type Pair,
  refusal,
  shows,
  until,
} from '../support/deals.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { type Stage, startStage, through } from '../support/stage.ts';
import { startBalancer } from '../upgrade-soak/balancer.ts';
import { startLoad } from '../upgrade-soak/load.ts';
import { ownPrograms, type Programs } from './programs.ts';
import { copyServer, folderOf, makeServer, type Server, startServer, toRecover } from './server.ts';

const usage = `usage: npm run node -- test/postgres-soak/failover.ts [--only NAME]
  --only  synchronous, asynchronous, archive or replica
Exit status: 0 all held, 1 something did not, 2 not understood.`;

/** Of load before and after the primary is killed. */
const loadMs = 8_000;

const asked = understood({
  usage,
  understand: (args) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : values;
  },
});

type Undo = (() => unknown)[];
type Scene = {
  readonly dir: string;
  readonly stage: Stage;
  /** Where markets have their database, whichever server that is. */
  readonly way: FaultProxy;
  readonly primary: Server;
  readonly replica: Server | null;
  readonly archive: string;
  readonly pair: Pair;
  readonly undo: Undo;
};

const standbyName = 'standby';

async function primaryIn(dir: string, programs: Programs): Promise<[Server, string]> {
  const place = await makeServer(join(dir, 'primary'), programs);
  const archive = await folderOf(place, 'archive');
  const primary = await startServer(place, {
    archive_mode: 'on',
    archive_command: `cp %p ${archive}/%f`,
  });
  return [primary, archive];
}

type Drill = {
  readonly env?: Readonly<Record<string, string>>;
  readonly withReplica?: true;
  readonly play: (scene: Scene) => Promise<string>;
};

async function begin(programs: Programs, { env = {}, withReplica }: Drill): Promise<Scene> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-failover-'));
  const undo: Undo = [() => rm(dir, { recursive: true, force: true })];
  const [primary, archive] = await primaryIn(dir, programs);
  undo.unshift(() => primary.stop());
  const way = await faultProxy(primary.port);
  undo.unshift(() => way.close());
  const replica = withReplica ? await standbyOf({ dir, primary, undo }, null) : null;
  const stage = await startStage({
    env: {
      ...env,
      DATABASE_URL: through(primary.url, way),
      ...(replica === null ? {} : { DATABASE_READ_URL: replica.url }),
      PARLEY_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  undo.unshift(() => stage.close());
  const balancer = await startBalancer();
  undo.unshift(() => balancer.close());
  for (let at = 0; at < 2; at += 1) balancer.add((await stage.startServer()).port);
  const ground: Stage = Object.assign(Object.create(stage), { url: balancer.url });
  await until('two processes are ready', async () =>
    stage.servers.every(({ port }) => balancer.isReady(port)),
  );
  const pair: Pair = [await newCustomer(ground, 'Ann'), await newCustomer(ground, 'Ben')];
  return { dir, stage: ground, way, primary, replica, archive, pair, undo };
}

/** A standby of the primary that has all of its log. */
async function standbyOf(
  { dir, primary, undo }: Pick<Scene, 'dir' | 'primary' | 'undo'>,
  by: FaultProxy | null,
): Promise<Server> {
  const place = await copyServer(join(dir, 'standby'), primary, {
    port: by?.port ?? primary.port,
    name: standbyName,
    isStandby: true,
  });
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

async function customers(stage: Stage): Promise<[Customer, Customer, Customer]> {
  return [
    await newCustomer(stage, 'Cleo'),
    await newCustomer(stage, 'Dan'),
    await newCustomer(stage, 'Eve'),
  ];
}

async function synchronous(scene: Scene): Promise<string> {
  const { stage, way, primary, pair } = scene;
  const standby = await standbyOf(scene, null);
  await primary.sql(`alter system set synchronous_standby_names = '${standbyName}'`);
  await primary.sql('select pg_reload_conf()');
  await until('commits wait for the standby', async () => {
    const rows = await primary.sql(`select from pg_stat_replication where sync_state = 'sync'`);
    return rows.length === 1;
  });
  const deal = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, deal, 'initiator');
  const [taker, maker, listening] = await customers(stage);
  const load = startLoad({ url: stage.url, taker, maker, listening, isPatient: true });
  await sleep(loadMs);
  const before = load.counts.answered;
  assert.ok(before > 0);
  const killed = performance.now();
  await primary.kill();
  await standby.promote();
  way.pointTo(standby.port);
  await until('requests are answered again', async () => load.counts.answered > before + 10);
  const away = Math.round((performance.now() - killed) / 100) / 10;
  await sleep(loadMs);
  await load.stop();
  const counts = await load.check(stage, { isFeedWhole: false });
  await settled(stage, deal);
  const lost = [...load.counts.lost].map(([what, times]) => `${times} ${what}`).join(', ');
  const what = `away for ${away} s, with ${lost || 'no failure'}`;
  return `nothing that was answered is lost; ${what}; ${counts}`;
}

/** Whose keys are revoked has its wallets still. */
async function comeBack(stage: Stage, who: Customer): Promise<void> {
  const options = { baseUrl: stage.url, productName: 'Parley', shortName: 'parley' };
  const { key } = await mintKey(options, walletsOf(stage.place, who.keys).evm, { name: who.name });
  Object.assign(who, { key, client: parleyClient({ ...options, key }) });
}

/** Every key is revoked as soon as a process has noticed that the database is another one. */
async function revokedOf(who: Customer): Promise<string> {
  return until('keys are revoked', async () => {
    const { status, code } = await refusal(who.client.me());
    return status === 401 ? code : null;
  });
}

type Gap = { readonly why: string };

const gapsOf = (server: Server) => server.sql<Gap>('select why from gaps where holds');

/** Agreements wait until an operator goes on: `ops resume --agreements` does this. */
async function agreedAgain(stage: Stage, pair: Pair, server: Server): Promise<Deal> {
  await server.sql('update gaps set holds = false');
  return until('a swap is agreed again', () => agreed(stage, pair, 'SOL', 'ETH'));
}

async function asynchronous(scene: Scene): Promise<string> {
  const { stage, way, primary, pair, undo } = scene;
  const log = await faultProxy(primary.port);
  undo.unshift(() => log.close());
  const standby = await standbyOf(scene, log);
  const kept = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, kept, 'initiator');
  await until('the standby has it', async () => {
    const known = `select from swaps where id = '${kept.id}' and status = 'initiator_funded'`;
    return (await standby.sql(known)).length === 1;
  });
  log.fail({ kind: 'cut' });
  const forgotten = await agreed(stage, pair, 'ETH', 'SOL');
  await primary.kill();
  await standby.promote();
  way.pointTo(standby.port);

  const code = await revokedOf(pair[0]);
  const [gap, ...more] = await gapsOf(standby);
  assert.deepEqual([gap?.why, more], ['lineage', []]);
  for (const who of pair) await comeBack(stage, who);
  assert.equal((await refusal(pair[0].client.swap(forgotten.id))).status, 404);
  await settled(stage, await agreedAgain(stage, pair, standby));
  await settled(stage, kept);
  return (
    `a loss is noticed ("${gap?.why}"), keys are revoked (${code}), a swap that the standby ` +
    `lacks is unknown (404), one that it has settles, and new ones are agreed once ` +
    'an operator goes on'
  );
}

async function settled(stage: Stage, deal: Deal): Promise<void> {
  await finish(stage, deal);
  await shows(deal, 'it settles', ({ status }) => status === 'counterparty_claimed');
}

/** A base backup and the archive bring the database back to a moment before somebody's mistake. */
async function archive(scene: Scene): Promise<string> {
  const { dir, stage, way, primary, pair, undo } = scene;
  const [taker] = pair;
  const rfq = async () => {
    const body = {
      ...({ direction: 'sell_base', ttlSeconds: 86_400, baseAmount: '1000000000' } as const),
      baseAssetId: taker.assets.SOL.id,
      quoteAssetId: taker.assets.ETH.id,
    };
    return (await taker.client.createRfq(body)).id;
  };
  const first = await rfq();
  const base = await copyServer(join(dir, 'base'), primary, {
    port: primary.port,
    name: 'base',
    isStandby: false,
  });
  const second = await rfq();
  const [moment] = await primary.sql<{ at: string }>('select clock_timestamp()::text as at');
  const late = await rfq();
  await primary.sql('truncate rfqs cascade');
  const [{ wal } = { wal: '' }] = await primary.sql<{ wal: string }>(
    'select pg_walfile_name(pg_switch_wal()) as wal',
  );
  await until('the log is archived', async () => {
    const done = `select from pg_stat_archiver where last_archived_wal >= '${wal}'`;
    return (await primary.sql(done)).length === 1;
  });
  for (const { market } of stage.servers.splice(0)) await market.stop();
  await primary.stop();

  await toRecover(base);
  const recovered = await startServer(base, {
    restore_command: `cp ${scene.archive}/%f %p`,
    recovery_target_time: moment?.at ?? '',
    recovery_target_action: 'promote',
  });
  undo.unshift(() => recovered.stop());
  await until('it has recovered', async () => {
    const [state] = await recovered.sql<{ is: boolean }>('select pg_is_in_recovery() as is');
    return state?.is === false;
  });
  way.pointTo(recovered.port);
  const server = await stage.startServer();
  const there: Stage = Object.assign(Object.create(stage), { url: server.url });
  const { code } = await refusal(parleyClient({ baseUrl: server.url, key: taker.key }).me());
  assert.equal(code, 'key_invalid');
  await comeBack(there, taker);
  await comeBack(there, pair[1]);
  for (const id of [first, second]) assert.equal((await taker.client.rfq(id)).id, id);
  assert.equal((await refusal(taker.client.rfq(late))).status, 404);
  const [gap] = await gapsOf(recovered);
  assert.equal(gap?.why, 'lineage');
  await settled(there, await agreedAgain(there, pair, recovered));
  return (
    'a database that was emptied is back as it was at the moment that was asked for, ' +
    `keys of before are refused (${code}), the loss is noticed ("${gap?.why}"), and swaps are ` +
    'agreed and settle'
  );
}

/** A replica that stands still, and one that is gone, keep nobody from the book as it is. */
async function replica(scene: Scene): Promise<string> {
  const { stage, pair } = scene;
  const standby = scene.replica as Server;
  const [taker, maker] = pair;
  const post = async () => {
    const { id } = await taker.client.createRfq({
      direction: 'sell_base',
      ttlSeconds: 86_400,
      baseAmount: '1000000000',
      baseAssetId: taker.assets.SOL.id,
      quoteAssetId: taker.assets.ETH.id,
    });
    return id;
  };
  const isShown = async (id: string) =>
    (await maker.client.rfqs({ limit: 100 })).rfqs.some((each) => each.id === id);
  const shown = async (id: string) => {
    const began = performance.now();
    await until('the RFQ is in the book', () => isShown(id));
    return ((performance.now() - began) / 1_000).toFixed(1);
  };
  const soon = await shown(await post());
  await standby.sql('select pg_wal_replay_pause()');
  const kept = await post();
  assert.equal(await isShown(kept), false, 'the book is read from the replica');
  const late = await shown(kept);
  await standby.sql('select pg_wal_replay_resume()');
  await standby.kill();
  const gone = await shown(await post());
  await settled(stage, await agreed(stage, pair, 'SOL', 'ETH'));
  return (
    `the book is read from it and shows an RFQ after ${soon} s; after ${late} s where its log ` +
    `stands still, and after ${gone} s where it is gone; swaps settle`
  );
}

const drills: Readonly<Record<string, Drill>> = {
  synchronous: { env: { PARLEY_KEEP_KEYS: '1' }, play: synchronous },
  asynchronous: { play: asynchronous },
  archive: { play: archive },
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
let passed = 0;
let failed = 0;
for (const [name, drill] of Object.entries(drills)) {
  if (!name.startsWith(asked.only)) continue;
  let scene: Scene | null = null;
  try {
    scene = await begin(programs, drill);
    console.log(`failover: PostgreSQL ${programs.version}, ${name}: ${await drill.play(scene)}`);
    passed += 1;
  } catch (error) {
    failed += 1;
    console.error(`${name}:`, error);
  } finally {
    for (const step of scene?.undo ?? []) {
      await Promise.resolve(step()).catch((error: unknown) => console.error(error));
    }
  }
}
// A name that fits nothing has shown nothing.
process.exit(failed === 0 && passed > 0 ? 0 : 1);
