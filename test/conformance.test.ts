// The conformance command, against the simulator as if it were a node that somebody else runs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { devnetClient } from '../devnet/client.ts';
import { startDevnet } from '../devnet/devnet.ts';
import { tronChain } from '../devnet/tron-chain.ts';

const run = promisify(execFile);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = '41'.repeat(32);
/** A promise that is not run any more, or a new one, is noticed here. */
const promises = /\n25 kept, 0 broken, 10 not run, of 35\n$/;
/** All of them in the soak: half a minute of waiting for blocks is enough here. */
const isSoak = process.env.PARLEY_FAULTS === 'all';
const some = ['--only', 'a funding '];

test('promises that need no clock of ours are kept on a TRON node that is given by its URL', {
  timeout: 240_000,
}, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const clock = { now: () => Math.floor(Date.now() / 1_000) };
  const ports = { solidityLag: 5, hasSolidityPort: true };
  const chain = await tronChain('tron-dev', { dir, log: quiet, clock, ...ports });
  t.after(() => chain.stop());
  const { rpcUrl, escrows, escrowsCreation, tokens } = chain.info;
  const token = tokens?.[0]?.address ?? '';
  const address = tronAddressOfKey(Buffer.from(key, 'hex'));
  await chain.give({ address, token: null, amount: null });
  await chain.give({ address, token, amount: null });
  const keyFile = join(dir, 'key');
  await writeFile(keyFile, `${key}\n`, { mode: 0o600 });
  // Blocks come by themselves, whatever anybody does.
  let mining = Promise.resolve();
  const timer = setInterval(() => {
    mining = mining.then(() => chain.mine(1)).catch(() => undefined);
  }, 500);
  t.after(() => clearInterval(timer));
  const where = ['--url', rpcUrl, '--solidity-url', chain.simulator.solidityUrl];
  where.push('--contract', escrows, '--creation', escrowsCreation);
  const args = [...where, '--key-file', keyFile, '--token', token, ...(isSoak ? [] : some)];
  const script = join(import.meta.dirname, 'adapters', 'conformance.ts');
  const { stdout } = await run(process.execPath, [script, ...args], { timeout: 230_000 }).catch(
    (error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}\n${error.stderr}`),
  );
  assert.match(stdout, isSoak ? promises : /\n2 kept, 0 broken, 1 not run, of 35\n$/);
  assert.match(stdout, /not run: a funding that a reorganisation takes away/);
});

test('on a dev network whose clock was moved by a day it goes by the chain’s, and asks for blocks', {
  timeout: 240_000,
}, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const devnet = await startDevnet({
    dir,
    log: quiet,
    bitcoin: false,
    solana: false,
    moveClock: () => undefined,
  });
  t.after(() => devnet.stop());
  const dev = devnetClient(devnet.dev);
  await dev.time(86_400);
  const { chains } = await dev.status();
  const tron = chains.find(({ family }) => family === 'tron');
  const address = tronAddressOfKey(Buffer.from(key, 'hex'));
  await dev.faucet({ chain: tron?.chain ?? '', address });
  const keyFile = join(dir, 'key');
  await writeFile(keyFile, `${key}\n`, { mode: 0o600 });
  const where = ['--url', tron?.rpcUrl ?? '', '--contract', tron?.escrows ?? ''];
  where.push('--creation', tron?.escrowsCreation ?? '');
  const args = [...where, '--key-file', keyFile, '--dev', devnet.dev];
  const script = join(import.meta.dirname, 'adapters', 'conformance.ts');
  const { stdout, stderr } = await run(process.execPath, [script, ...args], {
    timeout: 230_000,
  }).catch((error: { stdout: string; stderr: string }) =>
    assert.fail(`${error.stdout}\n${error.stderr}`),
  );
  assert.match(stdout, promises);
  assert.match(stderr, /^the chain's clock is 86\d{3} s from this machine's/);
  assert.match(stderr, /\n2 of \d+: \w/);
});
