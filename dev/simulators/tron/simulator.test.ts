import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { recorder } from '../../devnet/testing/start.ts';
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

for (const [method, params, code] of [
  ['eth_sendRawTransaction', [], -32601],
  ['eth_getStorageAt', [`0x${'ab'.repeat(20)}`, '0x0', 'finalized'], -32602],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x0' }], -32602],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1389' }], -32602],
] as const) {
  test(`JSON-RPC refuses ${method} of ${JSON.stringify(params)} as java-tron does`, async () => {
    type Reply = { error: { code: number } };
    const asked = { jsonrpc: '2.0', id: 1, method, params };
    assert.equal((await post<Reply>('/jsonrpc', asked)).error.code, code);
  });
}
