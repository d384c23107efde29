// A market without gas keys and a watchtower in a process of its own, on one database: a claim that
// a customer asks for is sent by the watchtower, and refused where there is none.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildApp } from '@parley/market/edge/app.ts';
import { evm2 } from '@parley/market/settle/testing/world.ts';
import { deskApart } from '@parley/market/start/watchtower.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import {
  attemptsOn,
  type Deal,
  type Desk,
  deepen,
  fundedDeal,
  jobsOf,
  legOf,
  startDesk,
  swapOf,
} from '@parley/watchtower/testing/desk.ts';

const limits = { timeout: 180_000 };
let desk: Desk;
let app: Awaited<ReturnType<typeof buildApp>>;
const children: ChildProcess[] = [];
before(async () => {
  desk = await startDesk();
  const { gas: _, signingTime: __, ...keyless } = desk.deps;
  app = await buildApp({ ...keyless, watchtower: deskApart(keyless) });
}, limits);
after(async () => {
  for (const child of children) child.kill('SIGTERM');
  await app?.close();
  await desk?.close();
});

/** Asked of the server that has no key. */
async function relay(deal: Deal) {
  const answer = await app.inject({
    method: 'POST',
    url: legOf(deal, 'a', 'claim'),
    headers: { authorization: `Bearer ${deal.taker.key}` },
    payload: { secret: deal.secret, relay: true },
  });
  const code = answer.headers['x-parley-error'] ?? null;
  return { status: answer.statusCode, code, body: answer.json() };
}

/** Returns what it prints until it watches. */
async function startApart(more: Record<string, string> = {}): Promise<string> {
  const { home, encryptionKey } = desk.deps.settings;
  const keyFile = join(home, 'apart.key');
  writeFileSync(keyFile, `${desk.key}\n`, { mode: 0o600 });
  const chains = [desk.infos.evm, desk.infos.evm2].map((each, at) => {
    return { chain: each?.chain, family: 'evm', chainId: 31_337 + at, rpcUrls: [each?.rpcUrl] };
  });
  const keys = [{ chain: evm2, keyFile, dailyCap: `${10n ** 18n}`, claimGraceSeconds: 0 }];
  const child = spawn(
    process.execPath,
    ['--conditions=@parley/source', 'apps/market/watchtower.ts'],
    {
      cwd: join(import.meta.dirname, '../..'),
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
        PARLEY_HOME: home,
        PARLEY_ENCRYPTION_KEY: encryptionKey ?? '',
        DATABASE_URL: desk.urls.database,
        PARLEY_CHAINS: JSON.stringify(chains),
        PARLEY_KEEPER: JSON.stringify(keys),
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  children.push(child);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = '';
  const read = (said: Buffer) => {
    printed += String(said);
    if (printed.includes(`Watching: ${evm2}`)) resolve(printed);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.once('close', (code) => reject(new Error(`it ended with ${code}: ${printed}`)));
  return promise;
}

test(
  'a relay that a server without keys is asked for is sent by its watchtower',
  limits,
  async () => {
    const deal = await fundedDeal(desk);
    const alone = await relay(deal);
    assert.deepEqual([alone.status, alone.code], [409, 'relay_unavailable']);
    const printed = await startApart();
    assert.match(
      printed,
      new RegExp(`  ${evm2} +gas key ${desk.gasAddress}\n`),
      'to send coins to',
    );
    const first = await relay(deal);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual((await relay(deal)).body, first.body, 'asked again it is the same');
    const text = 'select sealed, answer from keeper_asked';
    const asked = await desk.deps.db.rows({ name: '', text, values: [] });
    assert.deepEqual(asked, [], 'nothing sealed is left of it');
    const isSent = async () => (await attemptsOn(desk, deal, evm2))[0]?.outcome === 'pending';
    await waitUntil(isSent);
    await deepen(desk);
    const { a } = (await swapOf(deal)).legs;
    assert.deepEqual([a.status, a.claimTx, a.claimedBy], ['claimed', first.body.txid, 'keeper']);
    assert.equal((await jobsOf(desk, deal)).find(({ chain }) => chain === evm2)?.purpose, 'relay');
    // A refusal by the watchtower has the same words.
    const spent = await relay(
      await fundedDeal(desk).then((each) => ({ ...each, secret: deal.secret })),
    );
    assert.deepEqual([spent.status, spent.code], [400, 'wrong_secret']);
  },
);

test('one with another key than that of the database is refused', limits, async () => {
  const starting = startApart({ PARLEY_ENCRYPTION_KEY: '22'.repeat(32) });
  await assert.rejects(
    starting,
    /it ended with 1: not started: PARLEY_ENCRYPTION_KEY: .*another key/,
  );
});

test('where its port of metrics is taken it says so, and starts nothing', limits, async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    const starting = startApart({ PARLEY_METRICS_PORT: `${port}` });
    await assert.rejects(
      starting,
      /it ended with 1: not started: PARLEY_METRICS_PORT: .*EADDRINUSE/,
    );
  } finally {
    taken.close();
  }
});
