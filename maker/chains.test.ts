// The maker's wallets ask every node of their chain, so that one may be gone.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serializeTransaction } from 'viem';
import { fixedNode, nodeOf, within } from '../chains/testing/nodes.ts';
import { closeChains, mustHaveChains, openChains } from './chains.ts';
import { parseConfig } from './config/config.ts';

const soon = () => AbortSignal.timeout(20_000);

test('the first node of a chain gone, the maker’s wallet asks the second', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-maker-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'key'), '11'.repeat(32), { mode: 0o600 });
  const gone = await within(t, fixedNode('{}', 401));
  const answer = (says: object) =>
    within(
      t,
      nodeOf(async () => ({ text: JSON.stringify(says) })),
    );
  const evm = await answer({ result: '0x7' });
  const esplora = await answer([]);
  const text = `
store = "store"
[market]
url = "https://market.example"
login = "ethereum"
[chains.ethereum]
family = "evm"
chain_id = 1
rpc_urls = ["${gone}", "${evm}"]
key_file = "key"
[chains.bitcoin]
family = "bitcoin"
esplora_url = "${gone}"
second_esplora_url = "${esplora}"
key_file = "key"
[assets.btc]
chain = "bitcoin"
decimals = 8
[assets.eth]
chain = "ethereum"
decimals = 18
[prices.btc-eth]
type = "http"
url = "https://api.example/ticker"
path = "data.price"
[[pairs]]
base = "btc"
quote = "eth"
least = "0.001"
most = "0.25"
spread_bps = 30
price = "btc-eth"
`;
  const chains = await openChains(parseConfig(text, join(dir, 'maker.toml')).chains, () => 0);
  t.after(() => closeChains(chains));
  const ether = chains.ethereum?.wallet;
  assert.ok(ether?.family === 'evm');
  const to = ether.address as `0x${string}`;
  const raw = serializeTransaction({ type: 'eip1559', chainId: 1, nonce: 3, to });
  assert.equal(await ether.gapBefore({ txid: '0x', raw }, soon()), null);
  const bitcoin = chains.bitcoin?.wallet;
  assert.ok(bitcoin?.family === 'bitcoin');
  assert.equal(await bitcoin.spendable?.(soon()), 0n);
});

test('a maker does not start without a chain that something open needs, and says for what', async () => {
  const trade = { base: { chain: 'bitcoin' }, quote: { chain: 'base' } };
  const store = {
    getSwap: async (id: string) => (id === 'kept' ? { trade } : null),
    getTrade: async (id: string) => (id === 'thread 2' ? trade : null),
  } as never;
  const named = [{ chain: 'bitcoin' }];
  const deal = (threadId: string, swapId: string | null, end: string | null = null) =>
    ({ threadId, swapId, end }) as never;
  const start = (...deals: never[]) => mustHaveChains(named, store, deals);
  await start(deal('thread 1', 'kept', 'received'), deal('thread 3', null));
  const missing = {
    name: 'ChainMissing',
    message: /no chain "base" for swap kept, thread thread 2/,
  };
  const accepted = deal('thread 2', null);
  await assert.rejects(start(deal('thread 1', 'kept'), accepted), missing);
  await mustHaveChains([...named, { chain: 'base' }], store, [accepted]);
});
