// The state that a dev network keeps when it ends, in order or not, and the processes that share
// its folder.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import type { Family } from '@parley/core/families.ts';
import { DevnetError } from '@parley/host/failure.ts';
import { devnetClient } from './client.ts';
import type { Devnet } from './devnet.ts';
import { rpcTo } from './rpc.ts';
import { eventually, lab, recorder, someoneOn } from './testing/start.ts';

const module = new URL('./devnet.ts', import.meta.url).href;
const labOf = (t: TestContext) => lab((task) => t.after(task));

/** A gift on every chain, and a move of the clock before it. */
async function makeHistory(devnet: Devnet): Promise<Map<string, string>> {
  const client = devnetClient(devnet.dev);
  await client.time(100_000);
  const txids = new Map<string, string>();
  for (const { chain, family, tokens } of devnet.chains) {
    const address = someoneOn[family];
    const asset = tokens?.[0] === undefined ? {} : { asset: tokens[0].address };
    txids.set(chain, (await client.faucet({ chain, address, ...asset })).txid);
  }
  return txids;
}

async function checkHistory(devnet: Devnet, txids: Map<string, string>): Promise<void> {
  assert.equal(devnet.clockOffsetSeconds, 100_000);
  const status = await devnetClient(devnet.dev).status();
  assert.deepEqual(status.chains.map(({ chain }) => chain).sort(), [...txids.keys()].sort());
  for (const { chain, family, rpcUrl, medianTime } of status.chains) {
    assert.ok(Math.abs(medianTime - status.now) < 60, `${chain}: median time is kept`);
    assert.ok(await isMined[family](rpcUrl, txids.get(chain) ?? ''), `${chain}: the gift is there`);
  }
}

const isMined: Readonly<Record<Family, (url: string, txid: string) => Promise<boolean>>> = {
  bitcoin: async (url, txid) => {
    const found = await rpcTo(url)<{ confirmations: number }>('getrawtransaction', [txid, true]);
    return found.confirmations >= 1;
  },
  evm: async (url, txid) => {
    const receipt = await rpcTo(url)<{ status: string }>('eth_getTransactionReceipt', [txid]);
    return receipt.status === '0x1';
  },
  tron: async (url, value) => {
    const how = { method: 'POST', body: JSON.stringify({ value }) };
    const answer = await fetch(`${url}/wallet/gettransactioninfobyid`, how);
    const info = (await answer.json()) as { receipt?: { result?: string } };
    return info.receipt?.result === 'SUCCESS';
  },
  solana: async (url, txid) => {
    type Statuses = { readonly value: readonly { readonly err: unknown }[] };
    const { value } = await rpcTo(url)<Statuses>('getSignatureStatuses', [[txid]]);
    return value[0]?.err === null;
  },
};

/** Our programs that have something in this folder. */
async function programsIn(dir: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(`=${dir}/`)) found.push(Number(name));
  }
  return found;
}

test('chains, clocks and addresses go on after a stop and a start, in one process at a time', async (t) => {
  const { start } = await labOf(t);
  const first = await start();
  await assert.rejects(start(), /another running process uses/);
  const txids = await makeHistory(first);
  await first.stop();
  await first.stop();
  const second = await start();
  await checkHistory(second, txids);
  // A wallet of each start has the address that the app offers.
  const lasting = ({ chains }: Devnet) => chains.map((each) => ({ ...each, ownAddress: null }));
  assert.deepEqual(lasting(second), lasting(first));
});

test('however we end, the nodes end with us, and nothing is lost', {
  skip: process.platform === 'linux' ? false : 'reads /proc, needs setpriv',
}, async (t) => {
  const { dir, start } = await labOf(t);
  const program = `
    import { startDevnet } from '${module}';
    const quiet = { info() {}, warn() {}, error() {} };
    const devnet = await startDevnet({ dir: ${JSON.stringify(dir)}, log: quiet, moveClock() {} });
    console.log(JSON.stringify(devnet));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const gifts = await makeHistory(JSON.parse(line) as Devnet);
  assert.ok((await programsIn(dir)).length > 0);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await eventually('no node runs', async () => assert.deepEqual(await programsIn(dir), []));
  await checkHistory(await start(), gifts);
});

test('without a bitcoind one line says how to get it, and the rest runs', async (t) => {
  const { lines, log } = recorder();
  const { start } = await labOf(t);
  const bitcoind = '/nowhere/bitcoind';
  await assert.rejects(start({ bitcoind, bitcoin: true }), DevnetError);
  const devnet = await start({ bitcoind, bitcoin: 'auto', log });
  assert.deepEqual(devnet.chains.map(({ chain }) => chain).sort(), [
    'evm-dev',
    'solana-dev',
    'tron-dev',
  ]);
  const warnings = lines.filter(({ level }) => level !== 'info').map(({ message }) => message);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^Bitcoin is off: .*bitcoind/);
});
