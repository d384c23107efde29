// A wallet's view of its coins, by a Core node and by an Esplora-shaped server over it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { type Regtest, startRegtest } from '@parley/chains/bitcoin/testing/regtest.ts';
import { esploraServer, type TestServer } from '@parley/chains/bitcoin/testing/servers.ts';
import { fixedNode, nodeOf, within } from '@parley/chains/testing/nodes.ts';
import { Transaction } from '@scure/btc-signer';
import { limits, timed } from '../testing/timed.ts';
import { bitcoinWallet } from './bitcoin.ts';
import { type CoinSource, coinsByAll, coreCoins, esploraCoins } from './coins.ts';

const signal = () => AbortSignal.timeout(60_000);
let node: Regtest;
let server: TestServer;
let sources: CoinSource[];

before(async () => {
  node = await startRegtest();
  server = await esploraServer(node.rpc);
  sources = [coreCoins(node.rpcUrl), esploraCoins(`${server.url}/`)];
}, limits);
after(async () => {
  await server?.close();
  await node?.stop();
}, limits);

const core = 0;
const esplora = 1;

/** Both sources' answers about an output; they must agree. */
async function output(at: { txid: string; vout: number }) {
  const [one, other] = await Promise.all(sources.map((each) => each.output(at, signal())));
  assert.deepEqual(other, one);
  return one;
}

timed('an output is shown from its first block until a block spends it', async () => {
  const source = sources[esplora] as CoinSource;
  const privateKey = '17'.repeat(32);
  const wallet = bitcoinWallet({ privateKey, network: 'regtest', source });
  const txid = await node.pay(wallet.address, 200_000n);
  const outputs = (await node.rpc<{ vout: { value: number }[] }>('getrawtransaction', [txid, 1]))
    .vout;
  const at = { txid, vout: outputs.findIndex(({ value }) => value === 0.002) };
  assert.equal(await output(at), null, 'unconfirmed');
  for (const each of sources) assert.deepEqual(await each.coins(wallet.address, signal()), []);
  await node.mine(1);
  assert.deepEqual(await output(at), { amountSats: 200_000n, confirmations: 1 });
  for (const each of sources) {
    assert.deepEqual(await each.coins(wallet.address, signal()), [{ ...at, amountSats: 200_000n }]);
  }
  const home = await node.wallet<string>('getnewaddress');
  const { raw } = await wallet.signPayment(home, 100_000n, signal());
  await node.rpc('sendrawtransaction', [raw]);
  const standsBy = async (each: CoinSource | undefined) => {
    const own = bitcoinWallet({ privateKey, network: 'regtest', source: each as CoinSource });
    return (await own.standing?.(signal()))?.confirmed;
  };
  const every = [...sources, coinsByAll(sources)];
  const standing = async () => {
    const all: unknown[] = [];
    for (const each of every) all.push(await standsBy(each));
    return all;
  };
  assert.deepEqual(await standing(), [200_000n, 200_000n, 200_000n], 'no block has spent it');
  assert.equal((await wallet.standing?.(signal()))?.spendable, 0n);
  assert.deepEqual(await output(at), { amountSats: 200_000n, confirmations: 1 }, 'in a mempool');
  await node.mine(2);
  assert.equal(await output(at), null, 'spent in a block');
  const [change] = await standing();
  assert.ok(typeof change === 'bigint' && change > 0n && change < 100_000n);
  assert.deepEqual(await standing(), [change, change, change]);
});

timed('an output that never was is null, and a server that fails is no answer', async () => {
  assert.equal(await output({ txid: 'ab'.repeat(32), vout: 0 }), null);
  const coinbase = (await node.rpc<{ tx: string[] }>('getblock', [
    await node.rpc('getblockhash', [1]),
  ])) as { tx: string[] };
  assert.equal(await output({ txid: coinbase.tx[0] ?? '', vout: 9 }), null);
  const dead = esploraCoins('http://127.0.0.1:9');
  await assert.rejects(dead.output({ txid: 'ab'.repeat(32), vout: 0 }, signal()));
});

timed('a fee rate is that for about half an hour, and never below the least relayed', async () => {
  assert.equal(await sources[esplora]?.feeRateSatPerVbyte(signal()), 8);
  assert.equal(await sources[core]?.feeRateSatPerVbyte(signal()), 2, 'a node without estimates');
});

test('a fee rate that a source does not know is no lower than a later one', async (context) => {
  const esplora = await within(context, fixedNode('{"144":5,"504":4}'));
  assert.equal(await esploraCoins(esplora).feeRateSatPerVbyte(signal()), 5);
  const knows144 = nodeOf(async (text) => {
    const calls = JSON.parse(text) as { id: number; params: unknown[] }[];
    const answers = calls.map(({ id, params }) => {
      return { id, result: params[0] === 144 ? { feerate: 0.000_05 } : {}, error: null };
    });
    return { text: JSON.stringify(answers) };
  });
  assert.equal(await coreCoins(await within(context, knows144)).feeRateSatPerVbyte(signal()), 5);
});

type Told = Parameters<typeof sourceThat>[0];
const coin = { txid: 'ab'.repeat(32), vout: 0, amountSats: 5n };
const sourceThat = ({
  coins = [coin],
  depth = 6,
  rate = 10,
}: {
  readonly coins?: readonly (typeof coin)[];
  readonly depth?: number | null;
  readonly rate?: number;
}): CoinSource => ({
  coins: async () => [...coins],
  output: async () => (depth === null ? null : { amountSats: 5n, confirmations: depth }),
  feeRateSatPerVbyte: async () => rate,
});
const gone: CoinSource = {
  coins: async () => assert.fail('gone'),
  output: async () => assert.fail('gone'),
  feeRateSatPerVbyte: async () => assert.fail('gone'),
};
const byAll = (...told: readonly Told[]) => coinsByAll([gone, ...told.map(sourceThat)]);

timed(
  'one of several nodes may be gone, and none alone decides about a coin, its depth or a fee',
  async () => {
    const spent = { ...coin, vout: 1 };
    assert.deepEqual(await byAll({}).coins('', signal()), [coin]);
    assert.deepEqual(await byAll({}, { coins: [spent, coin] }).coins('', signal()), [coin]);
    const depthBy = async (...depths: readonly (number | null)[]) =>
      (await byAll(...depths.map((depth) => ({ depth }))).output(coin, signal()))?.confirmations;
    assert.equal(await depthBy(6, 9), 6);
    assert.equal(await depthBy(6, null), 1, 'one may be behind');
    assert.equal(await depthBy(null, null), undefined);
    const rateBy = (...rates: readonly number[]) =>
      byAll(...rates.map((rate) => ({ rate }))).feeRateSatPerVbyte(signal());
    assert.equal(await rateBy(1, 10), 10, 'one may stand still');
    assert.equal(await rateBy(1, 10, 400), 10);
  },
);

timed('a Core node that still scans is asked for the coins that an Esplora names', async () => {
  const address = bitcoinWallet({ privateKey: '18'.repeat(32), network: 'regtest' }).address;
  const txid = await node.pay(address, 300_000n);
  await node.mine(1);
  const [real] = (await sources[esplora]?.coins(address, signal())) ?? [];
  assert.ok(real?.txid === txid);
  const scanning: CoinSource = {
    ...(sources[core] as CoinSource),
    coins: (_, until) =>
      new Promise((_resolve, reject) => {
        until.addEventListener('abort', () => reject(until.reason));
      }),
  };
  const named = [real, coin, { ...real, amountSats: 900_000n }];
  for (const told of [[named], [[real]]] as const) {
    const both = coinsByAll([sourceThat({ coins: told[0] }), scanning]);
    assert.deepEqual(await both.coins(address, signal()), [real]);
  }
});

timed('a wallet pays no rate above the cap, whichever node names it', async () => {
  const coins = [{ ...coin, amountSats: 10_000_000n }];
  const source = sourceThat({ coins, rate: 100_000 });
  const wallet = bitcoinWallet({ privateKey: '17'.repeat(32), network: 'regtest', source });
  const { raw } = await wallet.signPayment(wallet.address, 1_000_000n, signal());
  const tx = Transaction.fromRaw(hexToBytes(raw));
  let paid = 0n;
  for (let at = 0; at < tx.outputsLength; at += 1) paid += tx.getOutput(at).amount ?? 0n;
  // The wallet counts the size before it signs, a few bytes too large.
  assert.ok(10_000_000n - paid <= 600n * BigInt(tx.vsize), `${10_000_000n - paid}`);
});
