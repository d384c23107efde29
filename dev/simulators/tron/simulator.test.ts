import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import falseToken from '@parley/contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import { RefusedRequest } from '@parley/host/failure.ts';
import { TronWeb } from 'tronweb';
import { recorder } from '../../devnet/testing/start.ts';
import { tronChain } from '../../devnet/tron-chain.ts';
import { supply } from './chain.ts';
import {
  blockId,
  buildRaw,
  deployedAddress,
  headerSchema,
  reference,
  type Transaction,
  transactionBytes,
  transactionOf,
} from './messages.ts';
import { FormatError, fromJson, type Message } from './protobuf.ts';
import {
  faucetAddress,
  faucetKey,
  type Simulator,
  type SimulatorOptions,
  signed,
  startSimulator,
} from './simulator.ts';

const HERE = hexToBytes(faucetAddress);
const there = `41${'ab'.repeat(20)}`;
const THERE = hexToBytes(there);
const { log } = recorder();
const ending: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ending.toReversed()) await end();
});

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-tron-'));
  ending.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A block only when it is mined, of a clock that stands unless it is moved. */
async function lab(options: Partial<SimulatorOptions> = {}) {
  const dir = await folder();
  const clock = { now: Date.now() };
  const start = async () => {
    const made = await startSimulator({ dir, log, nowMs: () => clock.now, ...options });
    made.setAutomatic(false);
    ending.push(made.stop);
    return made;
  };
  const stop = () => (ending.pop() ?? assert.fail())();
  return { dir, clock, start, stop, simulator: await start() };
}

const { simulator, clock } = await lab();

const sendTo = (contract: Message, at = clock.now) =>
  signed(
    simulator.chain.tip('head'),
    faucetKey,
    'TransferContract',
    { owner_address: HERE, to_address: THERE, amount: 5n, ...contract },
    at,
  );

async function post<T = { readonly balance?: number }>(
  path: string,
  body: object,
  { url } = simulator,
): Promise<T> {
  const sent = { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${url}${path}`, sent)).json()) as T;
}

type Refused = { code: string; message: string };

async function refused(tx: Transaction): Promise<[string, string]> {
  const transaction = bytesToHex(transactionBytes(tx));
  const { code, message } = await post<Refused>('/wallet/broadcasthex', { transaction });
  return [code, message];
}

function signBytes(rawBytes: Uint8Array, key = faucetKey): Transaction {
  const flat = secp256k1.sign(sha256(rawBytes), key, { prehash: false, format: 'recovered' });
  return transactionOf(rawBytes, [Uint8Array.from([...flat.subarray(1), (flat[0] ?? 0) + 27])]);
}

function rebuilt(change: Message): Transaction {
  const tx = sendTo({});
  const { contract: _, ...rest } = tx.raw;
  return signBytes(buildRaw('TransferContract', tx.contract, { ...rest, ...change }, 0n));
}

/** A call, by whose key is given. */
function calling(to: Uint8Array, rest: Message = {}, key = faucetKey): Transaction {
  const point = secp256k1.getPublicKey(key, false).subarray(1);
  const owner_address = Uint8Array.from([0x41, ...keccak_256(point).subarray(12)]);
  const tx = sendTo({});
  const { contract: _, ...raw } = tx.raw;
  const contract = { owner_address, contract_address: to };
  return signBytes(buildRaw('TriggerSmartContract', contract, { ...raw, ...rest }, 0n), key);
}

// Captures of the Nile network, from tronprotocol/documentation-en, docs/api/http. Transactions are
// proven beside the product's own and tronweb's.
test('a deployed contract is where the node says; a block id is its number and header hash', () => {
  // smart-contract/deploycontract.md
  const owner = hexToBytes('41dd791d6b49e190062d650e6a23c575510d35f2f9');
  const made = '7fe721c3f85b6c1c9491df43778c98903b565bc4210592f449f41342041729b3';
  const address = bytesToHex(deployedAddress(made, owner));
  assert.equal(address, '41584587b353166787b37d1b05a4a91e59c5370bcf');
  // block-and-tx-query/getnowblock.md
  const header = {
    number: 66987627,
    txTrieRoot: 'f8156964cc3e5793a368f938a18ea45c02bd48fe3a412f7091ce8d9ef56df174',
    witness_address: '41e7860196ad5b5718c1d6326babab039b70b8c1cd',
    parentHash: '0000000003fe266a65d5194c947f6f7a059d4646c8e9a5293226bc7fdcfc775e',
    version: 34,
    timestamp: 1777445307000,
  };
  const id = '0000000003fe266bf6b6d392f654dc2e5011601546ed04623d9fcc4e9d439a25';
  assert.equal(blockId(fromJson(headerSchema, header, false)), id);
  assert.deepEqual(reference(66987627n, id), { bytes: '266b', hash: 'f6b6d392f654dc2e' });
});

test('bytes that are no transaction of ours are refused', () => {
  const good = bytesToHex(sendTo({}).rawBytes);
  const bad = [good.slice(0, -2), `${good}00`, `${good}9a0601ff`, good.replace('5a65', '5a64')];
  for (const hex of bad) assert.throws(() => transactionOf(hexToBytes(hex), []), FormatError, hex);
});

test('a broadcast is refused with the code and the words of java-tron', async () => {
  const good = sendTo({});
  const { timestamp } = simulator.chain.tip('head').header;
  const signature = 'Validate signature error: ';
  const invalid = 'Contract validate error : ';
  for (const [tx, code, words] of [
    [
      signBytes(good.rawBytes, sha256(faucetKey)),
      'SIGERROR',
      new RegExp(`^${signature}T\\w{33} is not the signer$`),
    ],
    [
      calling(THERE, {}, sha256(faucetKey)),
      'CONTRACT_VALIDATE_ERROR',
      new RegExp(`^${invalid}account \\[T\\w{33}\\] does not exist$`),
    ],
    [{ ...good, signatures: [] }, 'SIGERROR', `${signature}miss sig or contract`],
    [rebuilt({ ref_block_hash: new Uint8Array(8) }), 'TAPOS_ERROR', 'Tapos check error.'],
    [rebuilt({ ref_block_bytes: hexToBytes('ff00') }), 'TAPOS_ERROR', 'Tapos check error.'],
    ...[timestamp, timestamp + 24 * 3_600_000 + 1].map((at) => {
      const tx = rebuilt({ expiration: BigInt(at) });
      return [tx, 'TRANSACTION_EXPIRATION_ERROR', 'Transaction expired'] as const;
    }),
    ...(
      [
        [{ amount: 0n }, 'Amount must be greater than 0.'],
        [{ to_address: HERE }, 'Cannot transfer TRX to yourself.'],
        [{ amount: supply }, 'Validate TransferContract error, balance is not sufficient.'],
      ] as const
    ).map(([over, why]) => [sendTo(over), 'CONTRACT_VALIDATE_ERROR', invalid + why] as const),
  ] as const) {
    const [gotCode, gotWords] = await refused(tx);
    assert.equal(gotCode, code);
    if (typeof words === 'string') assert.equal(gotWords, words);
    else assert.match(gotWords, words);
  }
  await simulator.chain.broadcast(good);
  const twice = ['DUP_TRANSACTION_ERROR', 'Dup transaction.'];
  assert.deepEqual(await refused(good), twice);
  await simulator.chain.mine();
  assert.deepEqual(await refused(good), twice);
});

test('a message is in hex, and an error names the class of java-tron', async () => {
  const call = { owner_address: faucetAddress, contract_address: there, data: '00' };
  type Result = { result: Refused };
  const { result } = await post<Result>('/wallet/triggersmartcontract', call);
  assert.equal(result.code, 'CONTRACT_VALIDATE_ERROR');
  const words = 'No contract or not a valid smart contract';
  assert.equal(Buffer.from(result.message, 'hex').toString(), words);
  const transfer = { owner_address: `41${'cd'.repeat(20)}`, to_address: faucetAddress, amount: 1 };
  const { Error: error } = await post<{ Error: string }>('/wallet/createtransaction', transfer);
  const name = 'class org.tron.core.exception.ContractValidateException';
  assert.equal(error, `${name} : Validate TransferContract error, no OwnerAccount.`);
});

test('a constant call that reverts has been made, one that the machine ends has not', async () => {
  const program = 'class org.tron.core.vm.program.Program$';
  for (const [data, words] of [
    ['5f5ffd', 'REVERT opcode executed'],
    ['fe', 'IllegalOperationException : Invalid operation code'],
    ['600756', 'BadJumpDestinationException : Operation with pc is not a jump destination'],
    ['50', 'StackTooSmallException : Expected stack size is bigger than the actual one'],
  ] as const) {
    const body = { owner_address: faucetAddress, data };
    type Tried = { result: { result?: boolean; code?: string; message: string } };
    const said = await post<Tried>('/wallet/triggerconstantcontract', body);
    const { message, ...how } = said.result;
    const isMade = data === '5f5ffd';
    assert.deepEqual(how, isMade ? { result: true } : { code: 'OTHER_ERROR' });
    assert.equal(Buffer.from(message, 'hex').toString(), isMade ? words : program + words);
    assert.equal(Object.keys(said).length > 1, isMade);
  }
});

test('the fee limit is all that a call may burn, and it is burnt when it does not suffice', async () => {
  const deploy = async (code: string): Promise<Uint8Array> => {
    const new_contract = { origin_address: HERE, bytecode: hexToBytes(code) };
    const { txid } = await simulator.sendAsFaucet('CreateSmartContract', { new_contract });
    const place = simulator.chain.find(txid);
    return hexToBytes(place?.block.transactions[0]?.info.contract_address as string);
  };
  const ended = async (to: Uint8Array, fee_limit: bigint) => {
    await simulator.chain.broadcast(calling(to, { fee_limit }));
    const { receipt } = (await simulator.chain.mine()).transactions[0]?.info ?? assert.fail();
    return [receipt.result, receipt.energy_usage_total, receipt.energy_fee];
  };
  const stores = await deploy('600a600c600039600a6000f360016000556001600055');
  // 20,000 and 5,000 to store, six for the pushes of each: java-tron knows no warm slots
  assert.deepEqual(await ended(stores, 2_501_200n), ['SUCCESS', 25_012, 2_501_200]);
  assert.deepEqual(await ended(stores, 1_001_100n), ['OUT_OF_ENERGY', 10_011, 1_001_100]);
  const loops = await deploy('6004600c60003960046000f35b600056');
  assert.deepEqual(await ended(loops, 5_000_000n), ['OUT_OF_ENERGY', 50_000, 5_000_000]);
});

test('parameters come in the query too, and in base58 where `visible` asks', async () => {
  type Shown = { blockID: string; block_header: { raw_data: { witness_address: string } } };
  const get = async <T = Shown>(path: string) =>
    (await (await fetch(`${simulator.url}${path}`)).json()) as T;
  const hex = await get('/wallet/getblockbynum?num=1');
  const text = await get('/wallet/getblockbynum?num=1&visible=true');
  assert.equal(hex.blockID, simulator.chain.block(1)?.id);
  assert.match(hex.block_header.raw_data.witness_address, /^41[0-9a-f]{40}$/);
  assert.match(text.block_header.raw_data.witness_address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  assert.deepEqual(await get('/wallet/getblockbynum?num=9999'), {});
  assert.equal((await fetch(`${simulator.url}/wallet/freezebalancev2`)).status, 404);
  const account = `/wallet/getaccount?address=${faucetAddress}`;
  assert.ok((await get<{ balance: number }>(account)).balance > 0);
});

for (const [method, params, code] of [
  ['eth_sendRawTransaction', [], -32601],
  ['eth_getStorageAt', [`0x${'ab'.repeat(20)}`, '0x0', 'finalized'], -32602],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x0' }], -32602],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1389' }], -32602],
  ['eth_call', [{ to: `0x${'ab'.repeat(20)}`, data: '0x' }, 'latest'], -32600],
] as const) {
  test(`JSON-RPC refuses ${method} of ${JSON.stringify(params)} as java-tron does`, async () => {
    type Reply = { error: { code: number } };
    const asked = { jsonrpc: '2.0', id: 1, method, params };
    assert.equal((await post<Reply>('/jsonrpc', asked)).error.code, code);
  });
}

test('a restart finds every block, the state and the chain id as they were', async () => {
  const { dir, start, stop, simulator: first } = await lab({ solidityLag: 3 });
  await first.sendAsFaucet('TransferContract', { to_address: THERE, amount: 77n });
  const tip = first.chain.tip('head');
  await stop();
  await appendFile(join(dir, 'blocks.jsonl'), '{"block":{"id":"cut o'); // as a crash leaves it
  const second = await start();
  assert.equal(second.chain.chainId, first.chain.chainId);
  assert.equal(second.chain.block(tip.header.number)?.id, tip.id);
  assert.equal((await post('/wallet/getaccount', { address: there }, second)).balance, 77);
  await second.chain.mine();
  await stop();
  await start();
});

test('the solid view is as far behind as it was told; what is not solid can be taken back', async () => {
  const { start, stop, simulator: first } = await lab({ solidityLag: 3 });
  const viewOf = async (room: string, value: string, by: Simulator = first) => [
    await post(`/${room}/getaccount`, { address: there }, by),
    await post(`/${room}/gettransactioninfobyid`, { value }, by),
  ];
  const nothing = [{}, {}];
  for (let n = 0; n < 4; n++) await first.chain.mine();
  const before = first.chain.tip('head').id;
  const give = () => first.sendAsFaucet('TransferContract', { to_address: THERE, amount: 9n });
  const { txid } = await give();
  await first.chain.takeBack(1);
  assert.equal(first.chain.tip('head').id, before);
  assert.deepEqual(await viewOf('wallet', txid), nothing);
  await assert.rejects(first.chain.takeBack(4), /solidified/);
  await stop();
  const again = await start();
  assert.deepEqual(await viewOf('wallet', txid, again), nothing);
  const sent = await again.sendAsFaucet('TransferContract', { to_address: THERE, amount: 9n });
  for (let n = 0; n < 2; n++) await again.chain.mine();
  assert.deepEqual(await viewOf('walletsolidity', sent.txid, again), nothing);
  await again.chain.mine();
  const [account, info] = await viewOf('walletsolidity', sent.txid, again);
  assert.deepEqual([account, info], await viewOf('wallet', sent.txid, again));
  assert.equal(account?.balance, 9);
});

test('a transaction that expires while it waits is in no block', async () => {
  const tx = sendTo({ amount: 6n });
  await simulator.chain.broadcast(tx);
  clock.now += 61_000;
  assert.equal((await simulator.chain.mine()).transactions.length, 0);
  assert.equal(simulator.chain.find(tx.txid), undefined);
});

const tronWeb = new TronWeb({ fullHost: simulator.url, privateKey: '11'.repeat(32) });
const alice = tronWeb.defaultAddress;
const bob = tronWeb.address.fromPrivateKey('22'.repeat(32)) as string;

/** Mines, and gives the receipt. */
async function mined(txid: string) {
  await simulator.chain.mine();
  return tronWeb.trx.getUnconfirmedTransactionInfo(txid);
}

test('tronweb: a transfer activates an account and burns for it, the next one is free', async () => {
  const to_address = hexToBytes(alice.hex as string);
  await simulator.sendAsFaucet('TransferContract', { to_address, amount: 1_000_000_000n });
  assert.deepEqual(await tronWeb.trx.getUnconfirmedAccount(bob), {});
  const sent = await tronWeb.trx.sendTransaction(bob, 5_000_000);
  assert.equal(sent.result, true);
  const info = await mined(sent.transaction.txID);
  assert.deepEqual([info.fee, info.receipt], [1_100_000, { net_fee: 100_000 }]);
  assert.equal(await tronWeb.trx.getUnconfirmedBalance(bob), 5_000_000);
  assert.equal(await tronWeb.trx.getBalance(bob), 0);
  const again = await tronWeb.trx.sendTransaction(bob, 1_000_000);
  assert.deepEqual((await mined(again.transaction.txID)).receipt, { net_usage: 267 });
  // One that the node has built.
  const body = { owner_address: alice.hex, to_address: tronWeb.address.toHex(bob), amount: 7 };
  const built = await tronWeb.fullNode.request('wallet/createtransaction', body, 'post');
  const signedByIt = await tronWeb.trx.sign(built as never);
  await tronWeb.trx.sendRawTransaction(signedByIt as never);
  assert.equal((await mined((built as { txID: string }).txID)).receipt?.net_usage, 265);
});

test('tronweb: a contract is deployed, tried, called, and its failure is on chain', async () => {
  const { abi } = falseToken;
  const made = await tronWeb.transactionBuilder.createSmartContract(
    { abi: abi as never, bytecode: falseToken.bytecode.slice(2), feeLimit: 1_000_000_000 },
    alice.base58 as string,
  );
  await tronWeb.trx.sendRawTransaction(await tronWeb.trx.sign(made));
  const { contract_address: token = '' } = await mined(made.txID);
  const uint = (value: number | string) => ({ type: 'uint256', value });
  const to = (value: string) => ({ type: 'address', value });
  const call = async (name: string, ...args: { type: string; value: unknown }[]) => {
    const limit = { feeLimit: 100_000_000 };
    const { transaction } = await tronWeb.transactionBuilder.triggerSmartContract(
      token,
      name,
      limit,
      args,
    );
    await tronWeb.trx.sendRawTransaction(await tronWeb.trx.sign(transaction));
    return mined(transaction.txID);
  };
  await call('mint(address,uint256)', to(alice.base58 as string), uint(500));
  const transfer = 'transfer(address,uint256)';
  const { energy_used } = await tronWeb.transactionBuilder.triggerConstantContract(
    token,
    transfer,
    {},
    [to(bob), uint(20)],
  );
  const info = await call(transfer, to(bob), uint(20));
  assert.deepEqual(info.contractResult, ['0'.repeat(64)], 'moved, and answered false');
  assert.deepEqual([info.receipt.result, info.log?.length], ['SUCCESS', 1]);
  assert.equal(info.receipt.energy_usage_total, energy_used, 'what its trial used');
  const failed = await call(transfer, to(bob), uint(10_000));
  assert.deepEqual([failed.result, failed.receipt.result], ['FAILED', 'REVERT']);
  assert.equal(tronWeb.toUtf8(failed.resMessage as string), 'REVERT opcode executed');
  const { energy_fee = 0, net_fee = 0 } = failed.receipt;
  assert.ok(energy_fee > 0);
  assert.equal(failed.fee, energy_fee + net_fee);
});

test('as a dev chain it makes blocks until what happened is solid; its faucet refuses nonsense', async () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const options = { dir: await folder(), log, clock: { now }, solidityLag: 3 };
  const chain = await tronChain('tron-dev', options);
  ending.push(chain.stop);
  const address = alice.base58 as string;
  const heights = () =>
    (['head', 'solid'] as const).map((view) => chain.simulator.chain.tip(view).header.number);
  await chain.give({ address, token: null, amount: 1n });
  const [head = 0] = heights();
  await chain.setAutomatic(false);
  await chain.tick();
  assert.equal(heights()[0], head);
  await chain.setAutomatic(true);
  for (let n = 0; n < 9; n++) await chain.tick();
  assert.deepEqual(heights(), [head + 3, head]);
  for (const gift of [
    { address: `0x${'0'.repeat(40)}`, token: null, amount: null },
    { address: address.slice(0, -1), token: null, amount: null },
    { address, token: null, amount: 10n ** 15n },
    { address, token: address, amount: null },
  ]) {
    await assert.rejects(chain.give(gift), RefusedRequest);
  }
});
