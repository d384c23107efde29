import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hexToBytes } from '@noble/hashes/utils.js';
import { TronWeb } from 'tronweb';
import falseToken from '../../contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import { recorder } from '../../devnet/testing/start.ts';
import { type Simulator, startSimulator } from './simulator.ts';

const ALICE = '11'.repeat(32);
const BOB = '22'.repeat(32);
const waitLimitMs = 20_000;

let dir: string;
let simulator: Simulator;
let tronWeb: TronWeb;
let bob: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-tron-'));
  const { log } = recorder();
  simulator = await startSimulator({ dir, log, nowMs: Date.now, solidityLag: 2 });
  tronWeb = new TronWeb({ fullHost: simulator.url, privateKey: ALICE });
  bob = tronWeb.address.fromPrivateKey(BOB) as string;
  const to_address = hexToBytes(tronWeb.defaultAddress.hex as string);
  await simulator.sendAsFaucet('TransferContract', { to_address, amount: 1_000_000_000n });
});

after(async () => {
  await simulator.stop();
  await rm(dir, { recursive: true, force: true });
});

async function infoOf(txid: string) {
  for (const until = Date.now() + waitLimitMs; Date.now() < until; await sleep(20)) {
    const info = await tronWeb.trx.getUnconfirmedTransactionInfo(txid);
    if ('id' in info) return info;
  }
  throw new Error(`${txid} is in no block`);
}

test('a message signed by tronweb is verified by tronweb, with the node or without', async () => {
  const signature = await tronWeb.trx.signMessageV2('a wallet of TRON', ALICE);
  const signer = await tronWeb.trx.verifyMessageV2('a wallet of TRON', signature);
  assert.equal(signer, tronWeb.defaultAddress.base58);
});

async function solidify(): Promise<void> {
  for (let n = 0; n < 2; n++) await simulator.chain.mine();
}

test('balances, of accounts that are and that are not', async () => {
  const { base58 } = tronWeb.defaultAddress;
  assert.equal(await tronWeb.trx.getUnconfirmedBalance(base58 as string), 1_000_000_000);
  assert.equal(await tronWeb.trx.getUnconfirmedBalance(bob), 0);
  assert.deepEqual(await tronWeb.trx.getUnconfirmedAccount(bob), {});
});

test('a transfer activates an account, burns for it, and is solid only later', async () => {
  const sent = await tronWeb.trx.sendTransaction(bob, 5_000_000);
  assert.equal(sent.result, true);
  const info = await infoOf(sent.transaction.txID);
  assert.equal(info.fee, 1_100_000);
  assert.deepEqual(info.receipt, { net_fee: 100_000 });
  assert.equal(await tronWeb.trx.getUnconfirmedBalance(bob), 5_000_000);
  assert.equal(await tronWeb.trx.getBalance(bob), 0);
  assert.deepEqual(await tronWeb.trx.getTransactionInfo(sent.transaction.txID), {});
  await solidify();
  assert.equal(await tronWeb.trx.getBalance(bob), 5_000_000);
  const found = await tronWeb.trx.getConfirmedTransaction(sent.transaction.txID);
  assert.equal(found.ret?.[0]?.contractRet, 'SUCCESS');
  const again = await tronWeb.trx.sendTransaction(bob, 1_000_000);
  assert.deepEqual((await infoOf(again.transaction.txID)).receipt, { net_usage: 267 });
});

test('the node builds the transactions that tronweb checks', async () => {
  const from = tronWeb.defaultAddress.hex as string;
  const built = (await tronWeb.fullNode.request(
    'wallet/createtransaction',
    { owner_address: from, to_address: tronWeb.address.toHex(bob), amount: 7 },
    'post',
  )) as Parameters<typeof tronWeb.trx.sign>[0] & { txID: string };
  const signed = await tronWeb.trx.sign(built);
  const sent = await tronWeb.trx.sendRawTransaction(signed as never);
  assert.equal(sent.result, true);
  assert.equal((await infoOf(built.txID)).id, built.txID);
});

test('a contract is deployed, called, sent to, and its failure is on chain', async () => {
  const contract = await tronWeb.contract().new({
    abi: falseToken.abi as never,
    bytecode: falseToken.bytecode.slice(2),
    feeLimit: 1_000_000_000,
    callValue: 0,
    parameters: [],
    name: 'ReturnsFalse',
  });
  const me = tronWeb.defaultAddress.base58 as string;
  type Method = (...values: unknown[]) => { send(): Promise<string>; call(): Promise<unknown> };
  const methods = contract.methods as unknown as Record<string, Method>;
  const call = (name: string, ...values: unknown[]) => (methods[name] as Method)(...values);
  await infoOf(await call('mint', me, 500).send());
  const held = await call('balanceOf', me).call();
  assert.equal(held, 500n);
  const txid = await call('transfer', bob, 20).send();
  const info = await infoOf(txid);
  assert.deepEqual(info.contractResult, ['0'.repeat(64)]); // moved, and answered false
  assert.equal(info.receipt.result, 'SUCCESS');
  assert.equal(info.log?.length, 1);
  const failing = await call('transfer', bob, 10_000).send();
  const failed = await infoOf(failing);
  assert.equal(failed.result, 'FAILED');
  assert.equal(failed.receipt.result, 'REVERT');
  assert.equal(tronWeb.toUtf8(failed.resMessage as string), 'REVERT opcode executed');
  const { energy_fee = 0, net_fee = 0 } = failed.receipt;
  assert.ok(energy_fee > 0);
  assert.equal(failed.fee, energy_fee + net_fee);
  assert.equal(await call('balanceOf', bob).call(), 20n);
});
