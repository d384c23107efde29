// A revoked key stops at once in every process: two processes on one database, whatever becomes of
// the connections between them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import pino from 'pino';
import { openRevocations } from './revocations.ts';
import { type ServerProcess, startServerProcess } from './testing/process.ts';
import { evmWallet, type TestWallet } from './testing/signers.ts';

let database: TestDatabase;
let one: ServerProcess;
let other: ServerProcess;
before(async () => {
  database = await testDatabase();
  one = await startServerProcess(database.url);
  other = await startServerProcess(database.url);
});
after(async () => {
  await one?.stop();
  await other?.stop();
  await database?.drop();
});

type Minted = { readonly id: string; readonly key: string; readonly replaced: boolean };

async function mintAt({ url }: ServerProcess, wallet: TestWallet): Promise<Minted> {
  const { nonce } = (await (await fetch(`${url}/v1/keys/nonce`)).json()) as { nonce: string };
  const message = `Parley - create an API key\n\nAddress: ${wallet.address}\nNonce: ${nonce}`;
  const signature = await wallet.sign(message);
  const body = { rail: wallet.family, address: wallet.address, message, signature };
  const answer = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Minted;
}

async function statusAt({ url }: ServerProcess, key: string): Promise<number> {
  const answer = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return answer.status;
}

/** The database's connections that hear of revocations. */
async function listeners(): Promise<number[]> {
  const rows = await database.db.rows<{ pid: number }>({
    name: 'test_listeners',
    text: `select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())`,
    values: [],
  });
  return rows.map(({ pid }) => pid);
}

async function untilBothListen(): Promise<number[]> {
  return waitUntil(async () => {
    const pids = await listeners();
    return pids.length === 2 ? pids : null;
  });
}

test('an answer to one revocation passes for none to the next of the same account', async () => {
  const words: unknown[] = [];
  let hear: (channel: string, payload: string) => void = () => {};
  const revocations = await openRevocations({
    db: {
      rows: async ({ name, values }) => {
        if (name === 'ask_forgotten') words.push(values[1]);
        return name === 'find_listeners' ? [{ pid: '7' } as never] : [];
      },
      listen: async ({ heard }) => {
        hear = heard;
        return { rows: async () => [], answeredAt: () => 0, end: () => {} };
      },
    },
    log: pino({ level: 'silent' }),
    forget: () => {},
  });
  const accountId = randomUUID();
  const over: number[] = [];
  for (const nth of [0, 1]) {
    const wait = revocations.everywhere(accountId).then(() => over.push(nth));
    await waitUntil(() => words.length === nth + 1);
    if (nth === 1) hear('key_forgotten', `${words[0]} 7`);
    await setImmediate();
    assert.deepEqual(over, nth === 1 ? [0] : []);
    hear('key_forgotten', `${words[nth]} 7`);
    await wait;
  }
  assert.deepEqual(over, [0, 1]);
  revocations.close();
});

test('no process lets in a call of a replaced key once the mint has answered', async () => {
  const wallet = evmWallet();
  const old = await mintAt(one, wallet);
  let answeredAt = Number.POSITIVE_INFINITY;
  let before = 0;
  const late: number[] = [];
  const fire = async () => {
    while (late.length < 60) {
      const sentAt = performance.now();
      const status = await statusAt(other, old.key);
      if (sentAt > answeredAt) late.push(status);
      else if (status === 200) before += 1;
    }
  };
  const firing = Promise.all(Array.from({ length: 8 }, fire));
  await waitUntil(() => before >= 50, { everyMs: 0 });
  await mintAt(one, wallet);
  answeredAt = performance.now();
  await firing;
  assert.deepEqual(new Set(late), new Set([401]));
});

test('a process that hangs holds the mint up only so long, and lets nobody in afterwards', async () => {
  const wallet = evmWallet();
  const old = await mintAt(one, wallet);
  assert.equal(await statusAt(other, old.key), 200);
  process.kill(other.pid, 'SIGSTOP');
  try {
    await mintAt(one, wallet);
  } finally {
    process.kill(other.pid, 'SIGCONT');
  }
  assert.equal(await statusAt(other, old.key), 401);
});

test('with its listening connections cut a process goes on, and keys stop at once all the same', async () => {
  const wallet = evmWallet();
  let { key } = await mintAt(one, wallet);
  for (const isCut of [true, true, false]) {
    assert.equal(await statusAt(other, key), 200);
    for (const pid of isCut ? await untilBothListen() : []) {
      const text = 'select pg_terminate_backend($1, 5000)';
      await database.db.rows({ name: 'test_cut', text, values: [pid] });
    }
    const fresh = await mintAt(one, wallet);
    assert.equal(await statusAt(other, key), 401);
    key = fresh.key;
    if (isCut) await untilBothListen();
  }
});
