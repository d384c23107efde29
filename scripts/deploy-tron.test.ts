// The deployment on TRON, against the simulator.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { httpClient } from '@parley/chains/tron/http.ts';
import { blockAt } from '@parley/chains/tron/node.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { lyingNode } from '@parley/chains/tron/testing/nodes.ts';
import { deployment as pinned } from '@parley/contracts/escrows/artifacts/abi.ts';
import { type EscrowRecord, recordIn, writeRecord } from '@parley/contracts/records.ts';
import { type TronDevChain, tronChain } from '@parley/dev/devnet/tron-chain.ts';
import { deployTron, tronRecordFault } from './deploy-tron.ts';

const run = promisify(execFile);
const key = '31'.repeat(32);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
let dir: string;
let chain: TronDevChain;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-deploy-tron-'));
  const clock = { now: () => Math.floor(Date.now() / 1_000) };
  chain = await tronChain('tron-dev', { dir, log: quiet, clock, solidityLag: 2 });
  const address = tronAddressOfKey(Buffer.from(key, 'hex'));
  await chain.give({ address, token: null, amount: null });
  await chain.mine(3);
});
after(async () => {
  await chain.stop();
  await rm(dir, { recursive: true, force: true });
});

async function cli(args: string[], env: Record<string, string> = {}) {
  const script = join(import.meta.dirname, 'deploy-tron.ts');
  const options = { env: { ...process.env, PARLEY_HOME: dir, ...env }, timeout: 60_000 };
  return run(process.execPath, [script, ...args], options).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout, stderr }) => ({ code: code as number, said: `${stdout}${stderr}` }),
  );
}

test('the contract is deployed by an operator’s key, recorded, and found again', async () => {
  const common = ['--url', chain.info.rpcUrl, '--records', join(dir, 'records')];
  const unknown = await cli([...common, '--verify']);
  assert.equal(unknown.code, 1);
  assert.match(unknown.said, /no deployment is recorded of chain \d+/);
  const done = await cli([...common, '--network', 'dev'], { PARLEY_DEPLOYER_KEY: key });
  assert.equal(done.code, 0, done.said);
  const { contract, creation, chainId } = JSON.parse(done.said);
  assert.equal(chainId, chain.info.chainId);
  assert.notEqual(contract, chain.info.escrows);
  const record = recordIn<EscrowRecord>('dev', join(dir, 'records')) as EscrowRecord;
  const http = httpClient({ chain: 'tron-dev', sources: [{ url: chain.info.rpcUrl }] });
  const signal = AbortSignal.timeout(60_000);
  const block = await blockAt(http, record.block, signal);
  assert.ok(block?.txs.some(({ txid }) => txid === creation));
  assert.deepEqual(record, {
    network: 'dev',
    family: 'tron',
    chainId,
    contract,
    sha256: pinned.initCode.sha256.slice(2),
    bytes: pinned.initCode.bytes,
    payer: tronAddressOfKey(Buffer.from(key, 'hex')),
    transaction: creation,
    block: block?.number,
    deployedAt: new Date(block?.timestampMs ?? 0).toISOString(),
  });
  const verified = await cli([...common, '--verify']);
  const well = `the pinned contract, made by ${creation} at ${record.deployedAt}, as recorded`;
  assert.deepEqual([verified.code, verified.said], [0, `dev: ${contract}: ${well}\n`]);
  for (const [part, words] of [
    [{ chainId: 1 }, /of chain \d+, not 1 as recorded/],
    [{ sha256: '00'.repeat(32) }, /other init code/],
    [{ bytes: 1 }, /of 1 bytes is recorded: other init code/],
    [{ family: 'evm' }, /a record of evm/],
    [{ contract: chain.info.escrows }, /created T\w+, not T\w+/],
    [{ transaction: '00'.repeat(32) }, /does not know 0{64}/],
    [{ payer: contract }, /payer is T\w+, and T\w+ is recorded/],
    [{ block: 1 }, /block is \d+, and 1 is recorded/],
    [{ deployedAt: '2026-01-01T00:00:00.000Z' }, /deployedAt is/],
  ] as const) {
    const changed = { ...record, ...part } as EscrowRecord;
    assert.match((await tronRecordFault(http, changed, signal)) ?? '', words);
  }
});

test('where a record is there nothing is sent', async () => {
  const records = join(dir, 'records');
  const record = recordIn<EscrowRecord>('dev', records) as EscrowRecord;
  const said: string[] = [];
  const options = {
    url: chain.info.rpcUrl,
    records,
    home: dir,
    feeLimitSun: 1_000_000_000n,
    privateKey: Buffer.from(key, 'hex'),
    say: (sentence: string) => said.push(sentence),
  };
  assert.deepEqual(await deployTron(options), record);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /was there already, as recorded in /);
  writeRecord({ ...record, block: record.block + 1 }, records);
  await assert.rejects(deployTron(options), /block is \d+, and \d+ is recorded. Name another/);
  assert.throws(() => writeRecord({ ...record, family: 'evm' }, records), /is of tron, not of evm/);
});

test('a transaction that a node took without a word is waited for, and a second try pays nothing', async (context) => {
  let cutOff = true;
  const node = await lyingNode(chain.info.rpcUrl, async ({ path }, forward) => {
    const said = await forward();
    if (path !== 'wallet/broadcasthex' || !cutOff) return said;
    cutOff = false;
    return { status: 502, body: '' };
  });
  context.after(() => node.stop());
  const said: string[] = [];
  const options = {
    url: node.url,
    privateKey: Buffer.from(key, 'hex'),
    feeLimitSun: 1_000_000_000n,
    home: dir,
    records: join(dir, 'waited'),
    network: 'waited',
    waitMs: 2_500,
    say: (sentence: string) => said.push(sentence),
  };
  await chain.setAutomatic(false);
  await assert.rejects(deployTron(options), /is in no block yet; the contract will be at T\w{33}/);
  await chain.setAutomatic(true);
  // Nor does one after a record that could not be written.
  const nowhere = join(import.meta.filename, 'records');
  await assert.rejects(deployTron({ ...options, records: nowhere }), /ENOTDIR/);
  const { transaction: txid, contract } = await deployTron(options);
  assert.deepEqual(said, [
    `sends ${txid}, contract ${contract}`,
    `waits again for ${txid}, contract ${contract}`,
    `waits again for ${txid}, contract ${contract}`,
    `written to ${join(dir, 'waited/waited.json')}`,
  ]);
});

test('no key and too low a fee limit are said', async () => {
  const { rpcUrl: url } = chain.info;
  assert.match(
    (await cli(['--url', url], { PARLEY_DEPLOYER_KEY: '' })).said,
    /must be set to 64 hex/,
  );
  const poor = {
    url,
    home: dir,
    records: join(dir, 'poor'),
    privateKey: Buffer.from(key, 'hex'),
    feeLimitSun: 1_000_000n,
  };
  await assert.rejects(deployTron(poor), /is its fee limit too low/);
});
