// Byte formats against what a real node said. The fixtures are captures of the Nile test network,
// published in tronprotocol/documentation-en, docs/api/http (the file is named at each).

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { TronWeb } from 'tronweb';
import falseToken from '../../contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import { recorder } from '../../devnet/testing/start.ts';
import {
  blockId,
  decodeTransaction,
  deployedAddress,
  headerSchema,
  packTransaction,
  rawToJson,
  reference,
  type Transaction,
  transactionBytes,
  transactionOf,
} from './messages.ts';
import { decode, encode, FormatError, fromJson, type JsonObject } from './protobuf.ts';
import { type Simulator, startSimulator } from './simulator.ts';

type Capture = { txID: string; raw_data: JsonObject; raw_data_hex: string };

const OWNER = '41dd791d6b49e190062d650e6a23c575510d35f2f9';
const TOKEN = '41eca9bc828a3005b9a3b909f2cc5c2a54794de05f';

function capture(
  kind: string,
  value: JsonObject,
  raw: JsonObject,
  txID: string,
  raw_data_hex: string,
): Capture {
  const parameter = { value, type_url: `type.googleapis.com/protocol.${kind}` };
  return { txID, raw_data: { contract: [{ parameter, type: kind }], ...raw }, raw_data_hex };
}

// tx-build-and-broadcast/createtransaction.md
const transfer = capture(
  'TransferContract',
  {
    amount: 1000000,
    owner_address: OWNER,
    to_address: '4192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a',
  },
  {
    ref_block_bytes: '2927',
    ref_block_hash: '939ece39d08a7abe',
    expiration: 1777447527000,
    timestamp: 1777447470038,
  },
  '6303c7639f591407ef9f34a7ac8c9c9a21151f5a6af21924502515734fc267ab',
  '0a0229272208939ece39d08a7abe40d8c483c1dd335a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a1541dd791d6b49e190062d650e6a23c575510d35f2f912154192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a18c0843d70d68780c1dd33',
);

// smart-contract/triggersmartcontract.md; its `data` lacks a digit in the page's JSON
const trigger = capture(
  'TriggerSmartContract',
  {
    data: 'a9059cbb000000000000000000000000088a2bfcb1c7271029fd69a66859d555608958840000000000000000000000000000000000000000000000000000000000000064',
    owner_address: OWNER,
    contract_address: TOKEN,
  },
  {
    ref_block_bytes: '28c3',
    ref_block_hash: 'ce6d340282788569',
    fee_limit: 100000000,
    expiration: 1777447227000,
    timestamp: 1777447168009,
  },
  '8c621a0dc9bd4d405b20d0a43143955b9f546f98bbfde1aec295a65b0f925629',
  '0a0228c32208ce6d34028278856940f89cf1c0dd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541dd791d6b49e190062d650e6a23c575510d35f2f9121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb000000000000000000000000088a2bfcb1c7271029fd69a66859d5556089588400000000000000000000000000000000000000000000000000000000000000647089d0edc0dd33900180c2d72f',
);

// smart-contract/deploycontract.md
const CODE =
  '608060405234801561001057600080fd5b5060f78061001f6000396000f3fe6080604052348015600f57600080fd5b506004361060285760003560e01c80636d4ce63c14602d575b600080fd5b60336047565b604051603e9190606b565b60405180910390f35b6000600190565b6000819050919050565b6065816052565b82525050565b6000602082019050607e6000830184605c565b9291505056fea264697066735822122000000000000000000000000000000000000000000000000000000000000000006c6578706572696d656e74616cf564736f6c63430008100033';
const deploy = capture(
  'CreateSmartContract',
  {
    owner_address: OWNER,
    new_contract: {
      origin_address: OWNER,
      consume_user_resource_percent: 100,
      name: 'MyContract',
      bytecode: CODE,
      abi: {},
      origin_energy_limit: 10000000,
    },
  },
  {
    ref_block_bytes: '28c7',
    ref_block_hash: 'b89ca57e9cbb96dd',
    fee_limit: 1000000000,
    expiration: 1777447239000,
    timestamp: 1777447181980,
  },
  '7fe721c3f85b6c1c9491df43778c98903b565bc4210592f449f41342041729b3',
  '0a0228c72208b89ca57e9cbb96dd40d8faf1c0dd335ae402081e12df020a30747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e437265617465536d617274436f6e747261637412aa020a1541dd791d6b49e190062d650e6a23c575510d35f2f91290020a1541dd791d6b49e190062d650e6a23c575510d35f2f91a0022e101' +
    CODE +
    '30643a0a4d79436f6e74726163744080ade204709cbdeec0dd3390018094ebdc03',
);

for (const [name, it] of Object.entries({ transfer, trigger, deploy })) {
  test(`${name}: raw_data in bytes, its id and its JSON are those of the node`, () => {
    const packed = packTransaction({ raw_data: it.raw_data, signature: [] });
    assert.equal(bytesToHex(packed.rawBytes), it.raw_data_hex);
    assert.equal(packed.txid, it.txID);
    const read = transactionOf(hexToBytes(it.raw_data_hex), []);
    const shown = JSON.parse(
      JSON.stringify(rawToJson(read, false), (_, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    );
    assert.deepEqual(shown, it.raw_data);
  });
}

test('a deployed contract is where the node says', () => {
  const address = deployedAddress(deploy.txID, hexToBytes(OWNER));
  assert.equal(bytesToHex(address), '41584587b353166787b37d1b05a4a91e59c5370bcf');
});

// block-and-tx-query/getnowblock.md
const header = {
  number: 66987627,
  txTrieRoot: 'f8156964cc3e5793a368f938a18ea45c02bd48fe3a412f7091ce8d9ef56df174',
  witness_address: '41e7860196ad5b5718c1d6326babab039b70b8c1cd',
  parentHash: '0000000003fe266a65d5194c947f6f7a059d4646c8e9a5293226bc7fdcfc775e',
  version: 34,
  timestamp: 1777445307000,
};

test('a block id is its number and the tail of its header hash', () => {
  const message = fromJson(headerSchema, header, false);
  assert.equal(
    blockId(message),
    '0000000003fe266bf6b6d392f654dc2e5011601546ed04623d9fcc4e9d439a25',
  );
  assert.deepEqual(decode(headerSchema, encode(headerSchema, message)), message);
});

test('a reference to a block is two bytes of its number and eight of its id', () => {
  assert.deepEqual(
    reference(66987627n, '0000000003fe266bf6b6d392f654dc2e5011601546ed04623d9fcc4e9d439a25'),
    { bytes: '266b', hash: 'f6b6d392f654dc2e' },
  );
});

test('a whole transaction comes back from its bytes, signature and all', () => {
  const signed: Transaction = {
    ...transactionOf(hexToBytes(transfer.raw_data_hex), []),
    signatures: [new Uint8Array(65).fill(7)],
  };
  const again = decodeTransaction(transactionBytes(signed));
  assert.equal(again.txid, transfer.txID);
  assert.deepEqual(again.signatures, signed.signatures);
});

test('bytes that are no such transaction are refused', () => {
  const good = transfer.raw_data_hex;
  const bad = [good.slice(0, -2), `${good}00`, `${good}9a0601ff`, good.replace('5a67', '5a66')];
  for (const hex of bad) assert.throws(() => transactionOf(hexToBytes(hex), []), FormatError, hex);
});

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
