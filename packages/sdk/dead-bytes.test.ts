// The first of two nodes builds a claim that no block takes, says that it was sent, and then that
// it waits or was mined. Another claim is made by the other node.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { readTransaction } from '@parley/chains/solana/message.ts';
import { lyingNode as solanaLies, type TestNode } from '@parley/chains/testing/nodes.ts';
import type { Party } from '@parley/core/trade.ts';
import { base58, base64, hex } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { solanaSource } from './sources.ts';
import type { Scene } from './testing/four-chains.ts';
import { withChain } from './testing/honest.ts';
import { hastySide, onChains, sideOf } from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { sourceIn } from './trade.ts';
import { solanaWallet } from './wallets/solana.ts';

const on = onChains();
const liars: TestNode[] = [];
after(() => Promise.all(liars.map((each) => each.stop())));

/** Names a block that never was, and says that what was built by it is mined. */
async function onSolana(taker: SettleInput): Promise<SettleInput> {
  const { chain, rpcUrl } = on.chains.place.solana;
  const taken = new Set<unknown>();
  const context = { slot: 1 };
  const liar = await solanaLies(rpcUrl, async ({ method, params: [first] }, forward) => {
    switch (method) {
      case 'getLatestBlockhash': {
        const said = (await forward()) as { result: { value: { blockhash: string } } };
        said.result.value.blockhash = base58.encode(randomBytes(32));
        return said;
      }
      case 'isBlockhashValid':
        return { result: { context, value: true } };
      case 'sendTransaction': {
        const { txid } = readTransaction(String(first));
        taken.add(txid);
        return { result: txid };
      }
      case 'getSignatureStatuses': {
        const [txid] = first as readonly unknown[];
        const mined = { slot: 1, err: null, confirmationStatus: 'finalized' };
        return taken.has(txid) ? { result: { context, value: [mined] } } : forward();
      }
      default:
        return forward();
    }
  });
  liars.push(liar);
  const { keysOf, now } = on.chains;
  const rpcUrls = [liar.url, rpcUrl];
  const secretKey = Uint8Array.from(Buffer.from(keysOf.taker.solana, 'hex'));
  const source = solanaSource({ chain, rpcUrls, now });
  const wallet = solanaWallet({ chain, rpcUrls, secretKey });
  return { ...taker, chains: withChain(taker.chains, chain, { source, wallet }) };
}

/** The same claim, of a payment that never was. */
function ofNothing(built: Material): Material {
  assert.ok(built.sign === 'btc-sighash');
  const lax = { allowUnknownInputs: true, allowUnknownOutputs: true };
  const tx = Transaction.fromPSBT(base64.decode(built.psbtBase64), lax);
  const { version, lockTime } = tx;
  const other = new Transaction({ ...lax, version, lockTime });
  const input = tx.getInput(0);
  const { witnessScript = new Uint8Array(), witnessUtxo } = input;
  other.addInput({ ...input, txid: randomBytes(32) });
  for (let at = 0; at < tx.outputsLength; at += 1) other.addOutput(tx.getOutput(at));
  const digest = other.preimageWitnessV0(0, witnessScript, 1, witnessUtxo?.amount ?? 0n);
  const psbtBase64 = base64.encode(other.toPSBT());
  return { ...built, psbtBase64, sighashHexes: [hex.encode(digest)] };
}

/** Shows a payment that never was, and takes what spends it. */
async function onBitcoin(maker: SettleInput): Promise<SettleInput> {
  const { chain } = on.chains.place.bitcoin;
  const source = sourceIn(maker.chains, chain);
  const { adapter: honest } = source;
  const buildClaim: ChainAdapter['buildClaim'] = async (...about) =>
    ofNothing(await honest.buildClaim(...about));
  const liar: ChainAdapter = { ...honest, buildClaim, broadcast: async ({ txid }) => txid };
  const adapter: ChainAdapter = {
    ...liar,
    broadcast: (signed, limit) => honest.broadcast(signed, limit).catch(() => signed.txid),
  };
  const own = { source: { ...source, adapter, nodes: [liar, honest] } };
  return { ...maker, chains: withChain(maker.chains, chain, own) };
}

async function isMadeAnew(
  scene: Scene,
  party: Party,
  liedTo: (side: SettleInput) => Promise<SettleInput>,
): Promise<void> {
  const told: string[] = [];
  const onProgress = ({ text }: Progress) => void told.push(text);
  const side = await liedTo(await hastySide(scene, party, { onProgress }));
  const other = await sideOf(scene, party === 'taker' ? 'maker' : 'taker');
  const signal = AbortSignal.timeout(180_000);
  const runs = [side, other].map((each) => settle({ ...each, signal }));
  const ends = (await Promise.allSettled(runs)).map((each) =>
    each.status === 'fulfilled' ? each.value.end : String(each.reason),
  );
  assert.deepEqual(ends, ['received', 'received'], told.join('\n'));
  assert.ok(told.some((text) => /no block has taken the claim .* in time/.test(text)));
}

timed('Solana: a claim that one node built in vain, and calls mined, is made anew', () =>
  isMadeAnew(on.chains.swap({ a: 'SOL', b: 'TRX' }), 'taker', onSolana),
);

timed('Bitcoin: a claim of a payment that one node made up is made anew', () =>
  isMadeAnew(on.chains.swap(), 'maker', onBitcoin),
);
