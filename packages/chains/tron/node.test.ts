import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../testing/refusals.ts';
import { type Http, httpClient, parseAnswer, TronRefusal } from './http.ts';
import {
  accountOf,
  blockAt,
  blockOf,
  blocksOf,
  burntBy,
  headBlock,
  infoOf,
  infosAt,
  knows,
  pricesOf,
  rawDataOf,
  resourcesOf,
  storageAt,
  tryCall,
} from './node.ts';
import { claimCall, fundCalls, refundCall } from './plan.ts';
import { anyone, funder, newcomer, newLeg, send, signal, solidityLag } from './testing/chain.ts';
import type { Lie } from './testing/nodes.ts';
import { tronWorld } from './testing/world.ts';

const { chain, urlOf } = await tronWorld();

function httpOf(...urls: string[]): Http {
  const sources = urls.map((url) => ({ url }));
  return httpClient({ chain: 'tron-dev', sources, rounds: 1 });
}
const http = httpOf(chain.url);
const through = async (lie: Lie): Promise<Http> => httpOf(await urlOf(lie));
/** A node that answers everything so. */
const saying = (body: unknown, status = 200) => through(() => ({ status, body }));
const head = (node: Http) => headBlock(node, 'head', signal());
const account = (node: Http) => accountOf(node, anyone.address, signal());
const resources = (node: Http) => resourcesOf(node, anyone.address, signal());
const unavailable = (words: RegExp) => refuses('chain_unavailable', words);

test('heads, blocks and their transactions, failed ones too', async () => {
  const leg = newLeg(chain);
  const [fund] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(fund);
  const good = await send(chain, funder, fund);
  const bad = await send(chain, anyone, refundCall(leg.terms, chain.deployment));
  await chain.dev.mine(1);
  const top = await head(http);
  assert.equal((await headBlock(http, 'solid', signal())).number, top.number - solidityLag);
  const shown = top.txs.map(({ txid, succeeded }) => [txid, succeeded]);
  assert.deepEqual(shown, [
    [good, true],
    [bad, false],
  ]);
  assert.deepEqual(await blockAt(http, top.number, signal()), top);
  const [before, same, ...none] = await blocksOf(http, top.number - 1, top.number, signal());
  assert.deepEqual([same, none], [top, []]);
  assert.equal(before?.hash, top.parentHash);
  assert.equal(await blockAt(http, top.number + 1, signal()), null);
  assert.deepEqual(await blocksOf(http, top.number + 1, top.number + 2, signal()), []);
  const infos = await infosAt(http, top.number, signal());
  const logs = infos.map(({ txid, succeeded, logs: { length } }) => [txid, succeeded, length]);
  assert.deepEqual(logs, [
    [good, true, 1],
    [bad, false, 0],
  ]);
});

test('a transaction is known from its broadcast on, and where the node shows what waits', async () => {
  const txid = await send(chain, anyone, refundCall(newLeg(chain).terms, chain.deployment));
  assert.equal(await knows(http, txid, signal()), true);
  assert.equal(await infoOf(http, txid, 'head', signal()), null);
  await chain.dev.mine(1);
  assert.equal(await knows(http, txid, signal()), true);
  assert.notEqual(await infoOf(http, txid, 'head', signal()), null);
  const unknown = '00'.repeat(32);
  assert.equal(await knows(http, unknown, signal()), false);
  const waits = await through(({ path, body }, forward) =>
    path === 'wallet/gettransactionfrompending' ? { body: { txID: body.value } } : forward(),
  );
  assert.equal(await knows(waits, unknown, signal()), true);
});

test('a call is tried: what it uses, what it returns, how it fails', async () => {
  const leg = newLeg(chain);
  const [call] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(call);
  const good = await tryCall(http, 'head', call, signal());
  assert.equal(good.failure, null);
  assert.ok(good.energy > 20_000n && good.energy < 30_000n, String(good.energy));
  const claiming = claimCall(leg.terms, chain.deployment, leg.secret);
  const early = await tryCall(http, 'head', claiming, signal());
  assert.match(early.failure ?? '', /REVERT/);
  assert.equal(early.output.length, 8 + 2 * 64);
  const nobody = { ...call, to: newcomer() };
  await assert.rejects(tryCall(http, 'head', nobody, signal()), TronRefusal);
  const poor = { ...nobody, from: newcomer(), to: chain.deployment.contract };
  await assert.rejects(tryCall(http, 'head', poor, signal()), TronRefusal);
});

// Answers of a node of Nile, from tronprotocol/documentation-en, docs/api/http.
const captures: Record<string, unknown> = {
  // smart-contract/triggerconstantcontract.md
  'wallet/triggerconstantcontract': {
    result: { result: true },
    energy_used: 935,
    constant_result: ['0000000000000000000000000000000000000000000000000000000040cfcc00'],
    transaction: { ret: [{}], visible: false },
  },
  // block-and-tx-query/gettransactioninfobyblocknum.md
  'wallet/gettransactioninfobyblocknum': [
    {
      id: 'ff44a2823a870c12f12a4ca6e7647650356bc2bb5e02c5855312cf2db4c950c1',
      fee: 267_000,
      blockNumber: 66_987_565,
      blockTimeStamp: 1_777_445_121_000,
      contractResult: [''],
      receipt: { net_fee: 267_000 },
    },
  ],
  // block-and-tx-query/getblockbylimitnext.md
  'wallet/getblockbylimitnext': {
    block: [
      {
        blockID: '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e',
        block_header: {
          raw_data: {
            number: 66_987_565,
            txTrieRoot: 'faf8fe3858339ead25cc892461c82a59b84dca4a51c45b026676bf3f45a352a2',
            witness_address: '41b2f713d57dbcec679d93a8849fa0cd0e4db594ba',
            parentHash: '0000000003fe262c85cd6b02033f4c3e5c1efa35de256a17bd906dc61fb1aeed',
            version: 34,
            timestamp: 1_777_445_121_000,
          },
        },
      },
    ],
  },
  // account/getaccountresource.md
  'wallet/getaccountresource': {
    freeNetUsed: 441,
    freeNetLimit: 600,
    assetNetUsed: [{ key: '1005416', value: 0 }],
    assetNetLimit: [{ key: '1005416', value: 10_000 }],
    TotalNetLimit: 43_200_000_000,
    TotalNetWeight: 68_305_209_098,
    TotalEnergyLimit: 180_000_000_000,
    TotalEnergyWeight: 2_411_528_185,
  },
  // block-and-tx-query/gettransactionfrompending.md
  'wallet/gettransactionfrompending': {},
  'wallet/gettransactionbyid': {},
};

const balanceCall = { from: anyone.address, to: funder.address, data: '70a08231', value: 0n };
const trial = (node: Http) => tryCall(node, 'head', balanceCall, signal());

test('answers captured from a real node are read', async () => {
  const node = await through(({ path }) => ({ body: captures[path] }));
  const { failure, energy, output } = await trial(node);
  assert.deepEqual([failure, energy, BigInt(`0x${output}`)], [null, 935n, 1_087_360_000n]);
  const [info] = await infosAt(node, 66_987_565, signal());
  assert.equal(info?.txid.slice(0, 8), 'ff44a282');
  assert.deepEqual([info?.succeeded, info?.logs], [true, []]);
  const other = /asked for block 7, it gave block 66987565$/;
  await assert.rejects(infosAt(node, 7, signal()), unavailable(other));
  const [block] = await blocksOf(node, 66_987_565, 66_987_566, signal());
  assert.deepEqual([block?.number, block?.timestampMs], [66_987_565, 1_777_445_121_000]);
  assert.deepEqual(await resources(node), { energy: 0n, energyLimit: 0n, bandwidth: 159n });
  assert.equal(await knows(node, '00'.repeat(32), signal()), false);
});

test('a block of another number than was asked for is an error', async () => {
  const first = await saying(await http.call('wallet/getblockbynum', { num: 1 }, signal()));
  const words = unavailable(/asked for block 2, it gave block 1$/);
  await assert.rejects(blockAt(first, 2, signal()), words);
});

test('an answer about another transaction than was asked for is an error', async () => {
  const id = 'ab'.repeat(32);
  const other = await saying({ id, txID: id, raw_data_hex: '' });
  const asked = 'cd'.repeat(32);
  for (const ask of [
    infoOf(other, asked, 'solid', signal()),
    burntBy(other, asked, signal()),
    blockOf(other, asked, signal()),
    rawDataOf(other, asked, signal()),
    knows(other, asked, signal()),
  ]) {
    await assert.rejects(
      ask,
      unavailable(/asked for transaction (cd)+, it gave transaction (ab)+$/),
    );
  }
  assert.equal(await knows(other, id.toUpperCase(), signal()), true);
});

test('a revert as a node documents it: result true, a message, and FAILED', async () => {
  const reverted = { constant_result: ['08c379a0'], transaction: { ret: [{ ret: 'FAILED' }] } };
  const message = Buffer.from('REVERT opcode executed').toString('hex');
  const said = await saying({ ...reverted, result: { result: true, message } });
  assert.equal((await trial(said)).failure, 'REVERT opcode executed');
  const unmarked = await saying({ ...reverted, result: { result: true } });
  assert.notEqual((await trial(unmarked)).failure, null);
});

test('int64 beyond what a number holds are read exactly', () => {
  const text =
    '{"balance":99000000000123457,"list":[-99000000000123457,12],"id":"9900000000012345"}';
  assert.deepEqual(parseAnswer(text), {
    balance: '99000000000123457',
    list: ['-99000000000123457', 12],
    id: '9900000000012345',
  });
});

const least = -(2n ** 63n);

for (const digits of [String(2n ** 63n), '9'.repeat(80), '9'.repeat(1_000_000), '1.5', '1e30']) {
  test(`numbers of more digits than an int64 has do not pass: ${digits.slice(0, 20)}`, async () => {
    for (const balance of [digits, `-${digits}`]) {
      const node = await saying(`{"address":"41","balance":${balance}}`);
      const asked = performance.now();
      if (balance === String(least)) assert.equal((await account(node))?.balance, least);
      else await assert.rejects(account(node), unavailable(/not an integer/));
      // A parser that looks back for each digit takes minutes.
      assert.ok(performance.now() - asked < 20_000, `${performance.now() - asked} ms`);
    }
  });
}

test('amounts below zero do not pass', async () => {
  const id = '00'.repeat(32);
  const frozenV2 = [{ type: 'ENERGY', amount: -5 }];
  const numbered = { blockID: id, block_header: { raw_data: { number: -5, parentHash: id } } };
  for (const [body, ask] of [
    [{ id, fee: -(10 ** 15) }, (node: Http) => burntBy(node, id, signal())],
    [{ EnergyUsed: -5 }, resources],
    [{ freeNetLimit: -5 }, resources],
    [{ address: '41', frozenV2 }, account],
    [numbered, head],
  ] as const) {
    await assert.rejects(ask(await saying(body)), unavailable(/an amount below zero/));
  }
});

test('no more is read of each answer than it has a reason to be', async () => {
  const node = await saying(JSON.stringify({ x: 'y'.repeat(2 ** 19) }));
  await assert.rejects(
    pricesOf(node, signal()),
    unavailable(/an answer of more than 262144 bytes/),
  );
  const word = storageAt(node, '11'.repeat(20), '00'.repeat(32), signal());
  await assert.rejects(word, unavailable(/more than 16384 bytes/));
  // This one may be as long.
  assert.equal(await account(node), null);
  const sources = [{ url: await urlOf(() => ({ body: `"${'x'.repeat(2_000)}"` })) }];
  const small = httpClient({ chain: 'tron-dev', sources, rounds: 1, mostBytes: 1_000 });
  await assert.rejects(head(small), unavailable(/more than 1000 bytes/));
});

const numbered = { blockID: '00'.repeat(32), block_header: { raw_data: { number: -1.5 } } };
test('a node over its limit says nothing of a call that it was to try', async () => {
  const words = 'class java.lang.IllegalAccessException : lack of computing resources';
  const over = await saying({ Error: words });
  await assert.rejects(trial(over), unavailable(/lack of computing resources/));
});

for (const [what, body, status, words] of [
  ['a page', '<html>', 502, /HTTP 502 and no JSON/],
  ['of a gateway', {}, 503, /HTTP 503/],
  ['too many', { Error: 'request rate exceeded' }, 429, /HTTP 429/],
  ['a Java error', { Error: 'class java.lang.NullPointerException : null' }, 200, /refused.*NullP/],
  [
    'of a java-tron without a past',
    'this API is closed because this node is a lite fullnode',
    200,
    /refused.*: this API is closed because this node is a lite fullnode$/,
  ],
  ['empty', {}, 200, /cannot be read/],
  ['a list', [], 200, /cannot be read: not an object/],
  ['no id', { blockID: 'xx' }, 200, /cannot be read/],
  ['a fraction', numbered, 200, /integer/],
] as const) {
  test(`an answer that is ${what} does not pass`, async () => {
    await assert.rejects(head(await saying(body, status)), unavailable(words));
  });
}

test('the solid view is asked at its own address where it has one', async () => {
  const paths: string[] = [];
  const solidityUrl = await urlOf(({ path }, forward) => {
    paths.push(path);
    return forward();
  });
  const sources = [{ url: `${chain.url}/`, solidityUrl }];
  const both = httpClient({ chain: 'tron-dev', sources });
  await head(both);
  await headBlock(both, 'solid', signal());
  assert.deepEqual(paths, ['walletsolidity/getnowblock']);
});
