// The deployment on TRON, against the simulator.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { lyingNode } from '../chains/tron/testing/nodes.ts';
import { type TronDevChain, tronChain } from '../devnet/tron/tron-chain.ts';
import { type DeployedTron, deployTron, verifyTron } from './deploy-tron.ts';

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

test('the contract is deployed by an operator’s key, with the pinned code, and found again', async () => {
  const { url } = { url: chain.info.rpcUrl };
  const done = await cli(['--url', url], { PARLEY_DEPLOYER_KEY: key });
  assert.equal(done.code, 0, done.said);
  const { contract, creation, chainId } = JSON.parse(done.said) as DeployedTron;
  assert.equal(chainId, chain.info.chainId);
  assert.notEqual(contract, chain.info.escrows);
  assert.equal(await verifyTron({ url }, { contract, creation }), null);
  const verified = await cli([
    '--url',
    url,
    '--verify',
    '--contract',
    contract,
    '--creation',
    creation,
  ]);
  assert.deepEqual(
    [verified.code, verified.said.trim()],
    [0, `${contract}: the pinned contract of this network`],
  );
});

test('what a node took without a word is waited for, and a second try pays nothing', async () => {
  let cutOff = true;
  const node = await lyingNode(chain.info.rpcUrl, async ({ path }, forward) => {
    const said = await forward();
    if (path !== 'wallet/broadcasthex' || !cutOff) return said;
    cutOff = false;
    return { status: 502, body: '' };
  });
  const said: string[] = [];
  const options = {
    url: node.url,
    privateKey: Buffer.from(key, 'hex'),
    feeLimitSun: 1_000_000_000n,
    home: dir,
    waitMs: 2_500,
    say: (sentence: string) => said.push(sentence),
  };
  await chain.setAutomatic(false);
  await assert.rejects(deployTron(options), /is in no block yet; the contract will be at T\w{33}/);
  await chain.setAutomatic(true);
  const { creation: txid, contract } = await deployTron(options);
  assert.deepEqual(said, [
    `sends ${txid}, contract ${contract}`,
    `waits again for ${txid}, contract ${contract}`,
  ]);
  await node.stop();
});

test('another contract, no contract, no key and too low a fee limit are said', async () => {
  const { rpcUrl: url, tokens, escrowsCreation: creation } = chain.info;
  const token = tokens?.[0]?.address ?? '';
  const other = await cli(['--url', url, '--verify', '--contract', token, '--creation', creation]);
  assert.equal(other.code, 1);
  assert.match(
    other.said,
    /shows another contract than that of escrows at T\w+: it answers no domain/,
  );
  const nowhere = tronAddressOfKey(Buffer.alloc(32, 7));
  assert.match(
    (await verifyTron({ url }, { contract: nowhere, creation })) ?? '',
    /shows no escrow contract/,
  );
  assert.match(
    (await cli(['--url', url], { PARLEY_DEPLOYER_KEY: '' })).said,
    /must be set to 64 hex/,
  );
  const poor = { url, home: dir, privateKey: Buffer.from(key, 'hex'), feeLimitSun: 1_000_000n };
  await assert.rejects(deployTron(poor), /is its fee limit too low/);
});
