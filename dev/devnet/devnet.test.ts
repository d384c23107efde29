// The state that a dev network keeps when it ends, in order or not, and the processes that share
// its folder.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Family } from '@parley/core/families.ts';
import { DevnetError } from '@parley/host/failure.ts';
import { devnetClient } from './client.ts';
import type { ChainInfo } from './dev-chain.ts';
import type { Devnet } from './devnet.ts';
import { type Rpc, rpcTo } from './rpc.ts';
import { eventually, lab, recorder, someoneOn } from './testing/start.ts';

const module = new URL('./devnet.ts', import.meta.url).href;
const bitcoinKey = 'bitcoin-regtest';
const someone = someoneOn.evm;
const noBitcoin = 'no bitcoind could be had: install one or set PARLEY_BITCOIND';

type Receipt = { status: string; logs: Log[] } | null;

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
  for (const each of status.chains) {
    const { chain, time, medianTime } = each;
    assert.ok(Math.abs(time - status.now) < 60, `${chain}: clock is kept`);
    assert.ok(Math.abs(medianTime - status.now) < 60, `${chain}: median time is kept`);
    await checkGift[each.family](each, txids.get(chain)!);
  }
}

type Log = { address: string };

/** The token's, found as such. */
async function checkLogs(rpc: Rpc, chain: string, logs: readonly Log[]): Promise<void> {
  assert.equal(logs.length, 1, chain);
  const address = logs[0]?.address.replace(/^(0x)?/, '0x');
  const filter = { address, fromBlock: '0x0', toBlock: 'latest' };
  assert.equal((await rpc<unknown[]>('eth_getLogs', [filter])).length, 1, `${chain}: logs`);
}

/** That the token of the first gift, or the coin, is where it was sent. */
const checkGift: Readonly<Record<Family, (info: ChainInfo, txid: string) => Promise<void>>> = {
  bitcoin: async ({ rpcUrl }, txid) => {
    const rpc = rpcTo(rpcUrl);
    const found = await rpc<{ confirmations: number }>('getrawtransaction', [txid, true]);
    assert.ok(found.confirmations >= 1);
  },
  evm: async ({ chain, rpcUrl }, txid) => {
    const rpc = rpcTo(rpcUrl);
    const receipt = await rpc<Receipt>('eth_getTransactionReceipt', [txid]);
    assert.equal(receipt?.status, '0x1', chain);
    await checkLogs(rpc, chain, receipt.logs);
    // Reads at depth work at once.
    const deep = `0x${(Number(await rpc('eth_blockNumber')) - 12).toString(16)}`;
    await rpc('eth_getBalance', [someone, deep]);
  },
  tron: async ({ chain, rpcUrl }, txid) => {
    const url = `${rpcUrl}/wallet/gettransactioninfobyid`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ value: txid }) });
    const info = (await answer.json()) as { receipt?: { result?: string }; log?: Log[] };
    assert.equal(info.receipt?.result, 'SUCCESS', chain);
    await checkLogs(rpcTo(`${rpcUrl}/jsonrpc`), chain, info.log ?? []);
  },
  solana: async ({ rpcUrl, tokens }, txid) => {
    const rpc = rpcTo(rpcUrl);
    const { value } = await rpc<{ value: { err: unknown }[] }>('getSignatureStatuses', [[txid]]);
    assert.equal(value[0]?.err, null);
    const owned = await rpc<{ value: unknown[] }>('getTokenAccountsByOwner', [
      someoneOn.solana,
      { mint: tokens?.[0]?.address },
      { encoding: 'base64', commitment: 'processed' },
    ]);
    assert.equal(owned.value.length, 1);
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

/** A process of its own that runs the dev network in this folder until it is killed. */
async function startInChild(dir: string) {
  const program = `
    import { startDevnet } from '${module}';
    const quiet = { info() {}, warn() {}, error() {} };
    const devnet = await startDevnet({ dir: ${JSON.stringify(dir)}, log: quiet, moveClock() {} });
    console.log(JSON.stringify(devnet));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: new URL('.', import.meta.url),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const devnet = await new Promise<Devnet>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.endsWith('\n')) resolve(JSON.parse(text));
    });
    void ended.then((code) => reject(new Error(`the child ended with ${code}`)));
  });
  return { child, devnet, ended };
}

/** Simulators run inside our process. */
const isNode = ({ node }: ChainInfo): boolean => !/simulator/.test(node.name);
const argumentsOf = async (pid: number) =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean);
const onLinux = { skip: process.platform === 'linux' ? false : 'reads /proc, needs setpriv' };

// One folder, in this order: it is what the next start finds.
const { dir: home, start: startAtHome } = await lab(after);
let first = await startAtHome();
let txids = new Map<string, string>();

test('the node takes no peers and its folder keeps its password', async (t) => {
  const found = first.chains.find(({ chain }) => chain === bitcoinKey);
  if (found === undefined) return t.skip(noBitcoin);
  const url = new URL(found.rpcUrl);
  assert.ok(url.password.length >= 32);
  url.password = 'guess';
  await assert.rejects(rpcTo(url.href)('getblockcount'));
  const network = await rpcTo(found.rpcUrl)<{ connections: number }>('getnetworkinfo');
  assert.equal(network.connections, 0);
  assert.equal((await stat(join(home, bitcoinKey, 'rpc.json'))).mode & 0o777, 0o600);
  for (const pid of process.platform === 'linux' ? await programsIn(home) : []) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    assert.ok(!command.includes(new URL(found.rpcUrl).password));
  }
});

test('a second dev network in the same folder is refused, and the first goes on', async () => {
  await assert.rejects(startAtHome(), /another running process uses/);
  const { chains } = await devnetClient(first.dev).status();
  assert.equal(chains.length, first.chains.length);
});

test('chains, clocks and addresses go on after a stop and a start', async () => {
  txids = await makeHistory(first);
  await first.stop();
  await first.stop();
  assert.deepEqual(await programsIn(home), []);
  const second = await startAtHome();
  await checkHistory(second, txids);
  // A wallet of each start has the address that the app offers.
  const lasting = ({ chains }: Devnet) => chains.map((each) => ({ ...each, ownAddress: null }));
  assert.deepEqual(lasting(second), lasting(first));
  first = second;
});

test('nodes that a crash left running are ended, and nobody else', onLinux, async (t) => {
  const left = await Promise.all((await programsIn(home)).map(argumentsOf));
  await first.stop();
  // The same programs with the same arguments, and nobody who would end them.
  const orphans = left.map(([file, ...args]) =>
    spawn(file!, args, { detached: true, stdio: 'ignore', cwd: home }),
  );
  const mark = left.flat().find((argument) => argument.startsWith('--dump-state='))!;
  const bystander = spawn('sh', ['-c', 'read line', mark], { stdio: ['pipe', 'ignore', 'ignore'] });
  t.after(() => bystander.kill('SIGKILL'));
  t.after(() => orphans.map((orphan) => orphan.kill('SIGKILL')));
  assert.equal(orphans.length, first.chains.filter(isNode).length);
  await eventually('the orphans run', async () => {
    assert.equal((await programsIn(home)).length, orphans.length + 1);
  });
  const second = await startAtHome();
  await checkHistory(second, txids);
  for (const orphan of orphans) assert.ok(orphan.exitCode !== null || orphan.signalCode !== null);
  assert.equal(bystander.exitCode ?? bystander.signalCode, null);
  const again = await devnetClient(second.dev).time(50);
  assert.equal(again.clockOffsetSeconds, 100_050);
  await second.stop();
});

test('however we end, the nodes end with us, and nothing is lost', onLinux, async (t) => {
  const { dir, start } = await lab((task) => t.after(task));
  const { child, devnet, ended } = await startInChild(dir);
  const gifts = await makeHistory(devnet);
  assert.ok((await programsIn(dir)).length > 0);
  child.kill('SIGKILL');
  await ended;
  await eventually('no node runs', async () => assert.deepEqual(await programsIn(dir), []));
  await checkHistory(await start(), gifts);
});

test('data a few seconds old is there when everything is killed with -9', onLinux, async (t) => {
  const { dir, start } = await lab((task) => t.after(task));
  const { child, devnet, ended } = await startInChild(dir);
  const gifts = await makeHistory(devnet);
  const savedAt = Date.now();
  const file = join(dir, 'evm-dev', 'saved-state.json');
  // The first save after the gifts may have begun before them; the second has not.
  for (const round of [1, 2]) {
    await eventually(`save ${round}`, async () => {
      assert.ok((await stat(file)).mtimeMs > savedAt + (round - 1) * 1_000);
    });
  }
  child.kill('SIGSTOP');
  for (const pid of await programsIn(dir)) process.kill(pid, 'SIGKILL');
  child.kill('SIGKILL');
  await ended;
  const second = await start();
  await checkHistory(second, gifts);
  await second.stop();
  // A state file cut short by a crash gives way to the one before.
  const exit = join(dir, 'evm-dev', 'exit-state.json');
  await writeFile(exit, (await readFile(exit, 'utf8')).slice(0, 1_000));
  await checkHistory(await start(), gifts);
});

test('without a bitcoind one line says how to get it, and the rest runs', async (t) => {
  const { lines, log } = recorder();
  const { start } = await lab((task) => t.after(task));
  const bitcoind = '/nowhere/bitcoind';
  await assert.rejects(start({ bitcoind, bitcoin: true }), DevnetError);
  const devnet = await start({ bitcoind, bitcoin: 'auto', log });
  assert.deepEqual(devnet.chains.map(({ chain }) => chain).sort(), [
    'evm-dev',
    'solana-dev',
    'tron-dev',
  ]);
  const warnings = lines.filter(({ level }) => level !== 'info');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!.message, /^Bitcoin is off: .*bitcoind/);
});

test('a node that hangs is ended by force, within a limit', onLinux, async (t) => {
  const { dir, start } = await lab((task) => t.after(task));
  const devnet = await start({ bitcoin: false, tron: false, solana: false });
  for (const pid of await programsIn(dir)) process.kill(pid, 'SIGSTOP');
  await devnet.stop();
  assert.deepEqual(await programsIn(dir), []);
});
