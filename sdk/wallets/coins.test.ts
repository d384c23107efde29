// What a wallet is told of its coins, by a Core node and by an Esplora-shaped server over it.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { type Regtest, startRegtest } from '../../chains/bitcoin/testing/regtest.ts';
import { esploraServer, type TestServer } from '../../chains/bitcoin/testing/servers.ts';
import { limits, timed } from '../testing/timed.ts';
import { bitcoinWallet } from './bitcoin.ts';
import { type CoinSource, coreCoins, esploraCoins } from './coins.ts';

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

const [core, esplora] = [0, 1];

/** What both sources say of an output; they must agree. */
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
  assert.deepEqual(await output(at), { amountSats: 200_000n, confirmations: 1 }, 'in a mempool');
  await node.mine(2);
  assert.equal(await output(at), null, 'spent in a block');
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
