// The deployment by one command, on a dev chain whose VM runs the loader itself.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startChain, type TestChain } from '@parley/dev/simulators/solana/testing/chain.ts';
import { base58 } from '@scure/base';
import type { KeyPairSigner } from '@solana/kit';
import { recordIn } from '../records.ts';
import { digestOf, PROGRAM_FILE } from './compile.ts';
import { deploy, keyIn } from './deploy.ts';
import { deploymentFault } from './deployed.ts';
import { readerOf } from './deployment.ts';
import { bufferOf, programDataOf } from './loader.ts';
import { rpcTo } from './node-rpc.ts';

const SOL = 1_000_000_000n;
const code = readFileSync(PROGRAM_FILE);
const limits = { timeout: 120_000 };

type Scene = {
  readonly chain: TestChain;
  readonly url: string;
  readonly records: string;
  readonly payer: KeyPairSigner;
  readonly program: KeyPairSigner;
};

/** A key as solana-keygen writes it. */
async function keyOf(name: string): Promise<readonly [KeyPairSigner, Uint8Array]> {
  const { ed25519 } = await import('@noble/curves/ed25519.js');
  const seed = createHash('sha256').update(name).digest();
  const bytes = Uint8Array.from([...seed, ...ed25519.getPublicKey(seed)]);
  return [await keyIn(JSON.stringify([...bytes])), bytes];
}

async function newScene(context: TestContext, lamports: bigint = SOL): Promise<Scene> {
  const chain = await startChain(context, { automatic: true, slotMs: 20 });
  const [payer] = await keyOf('deployer');
  const [program] = await keyOf('program of the test');
  await chain.give({ address: payer.address, token: null, amount: lamports });
  await chain.mine(8);
  const records = mkdtempSync(join(tmpdir(), 'parley-deployments-'));
  context.after(() => rmSync(records, { recursive: true, force: true }));
  return { chain, url: chain.info.rpcUrl, records, payer, program };
}

const optionsOf = ({ url, records, payer, program }: Scene) => ({
  rpcUrl: url,
  network: 'solana-dev',
  payer,
  program,
  records,
});

const balanceOf = async ({ chain }: Scene, of: string): Promise<bigint> =>
  (await chain.rpc.getBalance(of as never, { commitment: 'confirmed' }).send()).value;

test(
  'one command deploys the pinned program for good and records it; another changes nothing',
  limits,
  async (context) => {
    const scene = await newScene(context);
    const record = await deploy(optionsOf(scene));
    assert.equal(await deploymentFault(scene.program.address, readerOf(scene.url)), null);
    assert.equal(record.family, 'solana');
    assert.equal(record.contract, scene.program.address);
    assert.equal(record.sha256, digestOf(code));
    assert.equal(record.bytes, code.length);
    assert.equal(record.payer, scene.payer.address);
    assert.equal(record.genesisHash, await rpcTo(scene.url)('getGenesisHash', []));
    assert.ok(Math.abs(Date.parse(record.deployedAt) - Date.now()) < 60_000);
    assert.deepEqual(recordIn('solana-dev', scene.records), record);
    const statuses = await scene.chain.rpc
      .getSignatureStatuses([record.transaction as never])
      .send();
    assert.equal(statuses.value[0]?.err, null);
    // The buffer is empty: it has become the program.
    const buffer = await bufferOf(scene.payer.address, digestOf(code).slice(0, 32));
    assert.equal(await balanceOf(scene, buffer), 0n);
    const before = await balanceOf(scene, scene.payer.address);
    assert.deepEqual(await deploy(optionsOf(scene)), record);
    assert.equal(await balanceOf(scene, scene.payer.address), before);
    // A payer who has lost the file gets the same from the chain.
    rmSync(join(scene.records, 'solana-dev.json'));
    assert.deepEqual(await deploy(optionsOf(scene)), record);
  },
);

test(
  'a deployment that stopped in the middle goes on, and writes only what is missing',
  limits,
  async (context) => {
    const scene = await newScene(context);
    let written = 0;
    const failing = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const { method, params } = JSON.parse(body.toString());
      // The thirteenth transaction and all that follow are lost with the connection.
      if (method === 'sendTransaction' && !params[1].skipPreflight && ++written > 12) {
        response.destroy();
        return;
      }
      const answer = await fetch(scene.url, { method: 'POST', body });
      response.end(await answer.text());
    });
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
    context.after(() => failing.closeAllConnections());
    context.after(() => failing.close());
    const rpcUrl = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
    await assert.rejects(deploy({ ...optionsOf(scene), rpcUrl }), /fetch failed/);
    assert.equal(recordIn('solana-dev', scene.records), null);
    await scene.chain.mine(8);
    const said: string[] = [];
    await deploy({ ...optionsOf(scene), say: (sentence) => said.push(sentence) });
    const [, parts = '0'] = /^(\d+) parts/.exec(said[0] ?? '') ?? [];
    const all = Math.ceil(code.length / 960);
    assert.ok(Number(parts) > 0 && Number(parts) < all, `${parts} of ${all}`);
  },
);

test('another program at the address and another cluster are refused', limits, async (context) => {
  const scene = await newScene(context);
  const changed = Uint8Array.from(code);
  await deploy(optionsOf(scene));
  changed[changed.length - 1]! ^= 1;
  const other = deploy({ ...optionsOf(scene), code: changed });
  await assert.rejects(other, /it is not the committed program/);
  const next = await startChain(context, { automatic: true, slotMs: 20 });
  const moved = deploy({ ...optionsOf(scene), rpcUrl: next.info.rpcUrl });
  await assert.rejects(moved, /recorded with the genesis .*: another cluster/);
  // The program has no authority any more, not even the payer who made it.
  const data = await readerOf(scene.url)(await programDataOf(scene.program.address));
  assert.equal(data?.data[12], 0);
});

test('a key is an array of 64 bytes or base58, and is shown in no error', async () => {
  const [signer, bytes] = await keyOf('someone');
  assert.equal((await keyIn(` ${base58.encode(bytes)}\n`)).address, signer.address);
  for (const bad of ['[1, 2', '[1,2,3]', base58.encode(bytes.subarray(0, 32)), 'lI0O']) {
    await assert.rejects(keyIn(bad), (error: Error) => {
      assert.match(error.message, /^a key (is|has)/);
      return !error.message.includes(bad);
    });
  }
});
