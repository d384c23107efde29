import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { recorder } from '../../devnet/testing/start.ts';
import { supply } from './chain.ts';
import { buildRaw, rawSchema, type Transaction, transactionBytes } from './messages.ts';
import { decode, type Message } from './protobuf.ts';
import {
  faucetAddress,
  faucetKey,
  type Simulator,
  type SimulatorOptions,
  signed,
  startSimulator,
} from './simulator.ts';

const HERE = hexToBytes(faucetAddress);
const THERE = hexToBytes(`41${'ab'.repeat(20)}`);
const STORES = '600a600c600039600a6000f360016000556001600055';
const LOOPS = '6004600c60003960046000f35b600056';

async function lab(t: TestContext, options: Partial<SimulatorOptions> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-tron-'));
  const clock = { now: Date.now() };
  const running: Simulator[] = [];
  t.after(async () => {
    for (const simulator of running) await simulator.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const start = async () => {
    const { log } = recorder();
    const made = await startSimulator({ dir, log, nowMs: () => clock.now, ...options });
    made.setAutomatic(false);
    running.push(made);
    return made;
  };
  const stop = async () => running.pop()?.stop();
  return { dir, clock, start, stop };
}

const sendTo = (simulator: Simulator, contract: Message, at = Date.now()) =>
  signed(
    simulator.chain.tip('head'),
    faucetKey,
    'TransferContract',
    { owner_address: HERE, to_address: THERE, amount: 5n, ...contract },
    at,
  );

async function post(simulator: Simulator, path: string, body: object): Promise<never> {
  const response = await fetch(`${simulator.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return (await response.json()) as never;
}

type Refused = { code: string; message: string; txid: string };

async function refused(simulator: Simulator, tx: Transaction): Promise<[string, string]> {
  const transaction = bytesToHex(transactionBytes(tx));
  const { code, message }: Refused = await post(simulator, '/wallet/broadcasthex', { transaction });
  return [code, message];
}

function rebuilt(simulator: Simulator, change: Message): Transaction {
  const tx = sendTo(simulator, {});
  const { contract: _, ...rest } = tx.raw;
  return signBytes(tx, buildRaw('TransferContract', tx.contract, { ...rest, ...change }, 0n));
}

function signBytes(tx: Transaction, rawBytes: Uint8Array, key = faucetKey): Transaction {
  const flat = secp256k1.sign(sha256(rawBytes), key, { prehash: false, format: 'recovered' });
  const signature = Uint8Array.from([...flat.subarray(1), (flat[0] as number) + 27]);
  return { ...tx, rawBytes, raw: decode(rawSchema, rawBytes), signatures: [signature] };
}

function fromNobody(tx: Transaction): Transaction {
  const key = sha256(faucetKey);
  const point = secp256k1.getPublicKey(key, false).subarray(1);
  const owner_address = Uint8Array.from([0x41, ...keccak_256(point).subarray(12)]);
  const { contract: _, ...rest } = tx.raw;
  const raw = buildRaw(
    'TriggerSmartContract',
    { owner_address, contract_address: owner_address },
    rest,
    0n,
  );
  return signBytes(tx, raw, key);
}

test('a broadcast is refused with the code and the words of java-tron', async (t) => {
  const simulator = await (await lab(t)).start();
  const good = sendTo(simulator, {});
  const stranger = signBytes(good, good.rawBytes, sha256(faucetKey));
  const { header } = simulator.chain.tip('head');
  const cases: [Transaction, string, RegExp][] = [
    [stranger, 'SIGERROR', /^Validate signature error: T\w{33} is not the signer$/],
    [
      fromNobody(good),
      'CONTRACT_VALIDATE_ERROR',
      /^Contract validate error : account \[T\w{33}\] does not exist$/,
    ],
    [{ ...good, signatures: [] }, 'SIGERROR', /^Validate signature error: miss sig or contract$/],
    [
      rebuilt(simulator, { ref_block_hash: new Uint8Array(8) }),
      'TAPOS_ERROR',
      /^Tapos check error\.$/,
    ],
    [
      rebuilt(simulator, { ref_block_bytes: hexToBytes('ff00') }),
      'TAPOS_ERROR',
      /^Tapos check error\.$/,
    ],
    [
      rebuilt(simulator, { expiration: BigInt(header.timestamp) }),
      'TRANSACTION_EXPIRATION_ERROR',
      /^Transaction expired$/,
    ],
    [
      rebuilt(simulator, { expiration: BigInt(header.timestamp + 24 * 3_600_000 + 1) }),
      'TRANSACTION_EXPIRATION_ERROR',
      /^Transaction expired$/,
    ],
    [
      sendTo(simulator, { amount: 0n }),
      'CONTRACT_VALIDATE_ERROR',
      /^Contract validate error : Amount must be greater than 0\.$/,
    ],
    [
      sendTo(simulator, { to_address: HERE }),
      'CONTRACT_VALIDATE_ERROR',
      /^Contract validate error : Cannot transfer TRX to yourself\.$/,
    ],
    [
      sendTo(simulator, { amount: supply }),
      'CONTRACT_VALIDATE_ERROR',
      /balance is not sufficient\.$/,
    ],
  ];
  for (const [tx, code, words] of cases) {
    const [gotCode, gotWords] = await refused(simulator, tx);
    assert.equal(gotCode, code);
    assert.match(gotWords, words);
  }
  await simulator.chain.broadcast(good);
  assert.deepEqual(await refused(simulator, good), ['DUP_TRANSACTION_ERROR', 'Dup transaction.']);
  await simulator.chain.mine();
  assert.deepEqual(await refused(simulator, good), ['DUP_TRANSACTION_ERROR', 'Dup transaction.']);
});

test('a message is in hex unless `visible` asks for text', async (t) => {
  const simulator = await (await lab(t)).start();
  const bytes = { owner_address: faucetAddress, contract_address: bytesToHex(THERE), data: '00' };
  const hex: { result: Refused } = await post(simulator, '/wallet/triggersmartcontract', bytes);
  assert.equal(hex.result.code, 'CONTRACT_VALIDATE_ERROR');
  const words = 'No contract or not a valid smart contract';
  assert.equal(Buffer.from(hex.result.message, 'hex').toString(), words);
  const error: { Error: string } = await post(simulator, '/wallet/createtransaction', {
    owner_address: bytesToHex(THERE),
    to_address: faucetAddress,
    amount: 1,
  });
  assert.equal(
    error.Error,
    'class org.tron.core.exception.ContractValidateException : Validate TransferContract error, no OwnerAccount.',
  );
});

test('a constant call that reverts has been made, one that the machine ends has not', async (t) => {
  const simulator = await (await lab(t)).start();
  const tried = async (data: string) => {
    const body = { owner_address: faucetAddress, data };
    const path = '/wallet/triggerconstantcontract';
    type Tried = { result: { result?: boolean; code?: string; message: string } };
    const { result, ...made }: Tried = await post(simulator, path, body);
    return { ...result, message: Buffer.from(result.message, 'hex').toString(), made };
  };
  const reverted = await tried('5f5ffd');
  assert.equal(reverted.result, true);
  assert.equal(reverted.message, 'REVERT opcode executed');
  for (const [code, words] of [
    ['fe', 'IllegalOperationException : Invalid operation code'],
    ['600756', 'BadJumpDestinationException : Operation with pc is not a jump destination'],
    ['50', 'StackTooSmallException : Expected stack size is bigger than the actual one'],
  ] as const) {
    const message = `class org.tron.core.vm.program.Program$${words}`;
    assert.deepEqual(await tried(code), { code: 'OTHER_ERROR', message, made: {} });
  }
});

async function deploy(simulator: Simulator, code: string): Promise<Uint8Array> {
  const new_contract = { origin_address: HERE, bytecode: hexToBytes(code) };
  const { txid } = await simulator.sendAsFaucet('CreateSmartContract', { new_contract });
  const place = simulator.chain.find(txid);
  return hexToBytes(place?.block.transactions[0]?.info.contract_address as string);
}

async function ended(simulator: Simulator, to: Uint8Array, feeLimit: bigint) {
  const contract = { owner_address: HERE, contract_address: to };
  const tip = simulator.chain.tip('head');
  const made = signed(tip, faucetKey, 'TriggerSmartContract', contract, Date.now());
  const { contract: _, ...rest } = made.raw;
  const raw = { ...rest, fee_limit: feeLimit };
  const tx = signBytes(made, buildRaw('TriggerSmartContract', contract, raw, 0n));
  const txid = bytesToHex(sha256(tx.rawBytes));
  await simulator.chain.broadcast({ ...tx, txid });
  const block = await simulator.chain.mine();
  return block.transactions[0]?.info;
}

test('the fee limit is all that a call may burn, and it is burnt when it does not suffice', async (t) => {
  const simulator = await (await lab(t)).start();
  const stores = await deploy(simulator, STORES);
  // 20,000 and 5,000 to store, six for the pushes of each: java-tron knows no warm slots
  const done = await ended(simulator, stores, 2_501_200n);
  assert.equal(done?.receipt.energy_usage_total, 25_012);
  assert.equal(done?.receipt.result, 'SUCCESS');
  const short = await ended(simulator, stores, 1_001_100n);
  assert.equal(short?.receipt.result, 'OUT_OF_ENERGY');
  assert.equal(short?.receipt.energy_fee, 1_001_100);
  assert.equal(short?.result, 'FAILED');
  const loops = await ended(simulator, await deploy(simulator, LOOPS), 5_000_000n);
  assert.deepEqual(
    [loops?.receipt.result, loops?.receipt.energy_usage_total],
    ['OUT_OF_ENERGY', 50_000],
  );
});

test('a restart finds every block, the state and the chain id as they were', async (t) => {
  const { dir, start, stop } = await lab(t, { solidityLag: 3 });
  const first = await start();
  await first.sendAsFaucet('TransferContract', { to_address: THERE, amount: 77n });
  const tip = first.chain.tip('head');
  await stop();
  await appendFile(join(dir, 'blocks.jsonl'), '{"block":{"id":"cut o'); // as a crash leaves it
  const second = await start();
  assert.equal(second.chain.chainId, first.chain.chainId);
  assert.equal(second.chain.block(tip.header.number)?.id, tip.id);
  const held = await post(second, '/wallet/getaccount', { address: bytesToHex(THERE) });
  assert.equal((held as { balance: number }).balance, 77);
  await second.chain.mine();
  await stop();
  await start();
});

test('the solidified view is as far behind as it was told, in blocks and in state', async (t) => {
  const simulator = await (await lab(t, { solidityLag: 3 })).start();
  const { txid } = await simulator.sendAsFaucet('TransferContract', {
    to_address: THERE,
    amount: 9n,
  });
  const of = async (room: string) => ({
    account: await post(simulator, `/${room}/getaccount`, { address: bytesToHex(THERE) }),
    info: await post(simulator, `/${room}/gettransactioninfobyid`, { value: txid }),
  });
  for (let n = 0; n < 2; n++) await simulator.chain.mine();
  assert.deepEqual(await of('walletsolidity'), { account: {}, info: {} });
  await simulator.chain.mine();
  assert.deepEqual(await of('walletsolidity'), await of('wallet'));
  const solid = simulator.chain.tip('solid').header.number;
  assert.equal(simulator.chain.tip('head').header.number - solid, 3);
});

test('blocks that were taken back are gone with what they did, solid ones stay', async (t) => {
  const { start, stop } = await lab(t, { solidityLag: 3 });
  const simulator = await start();
  for (let n = 0; n < 4; n++) await simulator.chain.mine();
  const before = simulator.chain.tip('head').id;
  const { txid } = await simulator.sendAsFaucet('TransferContract', {
    to_address: THERE,
    amount: 9n,
  });
  await simulator.chain.takeBack(1);
  assert.equal(simulator.chain.tip('head').id, before);
  assert.deepEqual(await post(simulator, '/wallet/gettransactioninfobyid', { value: txid }), {});
  assert.deepEqual(await post(simulator, '/wallet/getaccount', { address: bytesToHex(THERE) }), {});
  await assert.rejects(simulator.chain.takeBack(3), /solidified/);
  await stop();
  const again = await start();
  assert.deepEqual(await post(again, '/wallet/getaccount', { address: bytesToHex(THERE) }), {});
});

test('what expires while it waits is in no block', async (t) => {
  const { clock, start } = await lab(t);
  const simulator = await start();
  const tx = sendTo(simulator, {}, clock.now);
  await simulator.chain.broadcast(tx);
  clock.now += 61_000;
  assert.equal((await simulator.chain.mine()).transactions.length, 0);
  assert.equal(simulator.chain.find(tx.txid), undefined);
});

test('parameters come in the query too, and in base58 where `visible` asks', async (t) => {
  const simulator = await (await lab(t)).start();
  type Shown = {
    blockID: string;
    block_header: { raw_data: { witness_address: string } };
    balance: number;
  };
  const get = async (path: string) =>
    (await (await fetch(`${simulator.url}${path}`)).json()) as Shown;
  const hex = await get('/wallet/getblockbynum?num=1');
  const text = await get('/wallet/getblockbynum?num=1&visible=true');
  assert.equal(hex.blockID, simulator.chain.block(1)?.id);
  assert.match(hex.block_header.raw_data.witness_address, /^41[0-9a-f]{40}$/);
  assert.match(text.block_header.raw_data.witness_address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  assert.deepEqual(await get('/wallet/getblockbynum?num=99'), {});
  assert.equal((await fetch(`${simulator.url}/wallet/freezebalancev2`)).status, 404);
  const account = await get(`/wallet/getaccount?address=${faucetAddress}`);
  assert.equal(account.balance, Number(supply));
});

test('JSON-RPC refuses with the codes of java-tron', async (t) => {
  const simulator = await (await lab(t)).start();
  type Reply = { error: { code: number; message: string } };
  const cases: readonly (readonly [string, unknown[], number])[] = [
    ['eth_sendRawTransaction', [], -32601],
    ['eth_getStorageAt', [`0x${'ab'.repeat(20)}`, '0x0', 'finalized'], -32602],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x0' }], -32602],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1389' }], -32602],
    ['eth_call', [{ to: `0x${'ab'.repeat(20)}`, data: '0x' }, 'latest'], -32600],
  ];
  for (const [method, params, code] of cases) {
    const asked = { jsonrpc: '2.0', id: 1, method, params };
    const { error }: Reply = await post(simulator, '/jsonrpc', asked);
    assert.equal(error.code, code, method);
  }
  const torn = await fetch(`${simulator.url}/jsonrpc`, { method: 'POST', body: '{' });
  assert.equal(((await torn.json()) as Reply).error.code, -32700);
});
