// The cost of a customer's own check of a claim built by the market, with its signature: for each
// family the bytes are compared with those that the terms give, and signed with a key at hand.

import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { signSighashes } from '@parley/chains/bitcoin/keys.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { readTransaction } from '@parley/chains/solana/message.ts';
import { signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { families } from '@parley/core/families.ts';
import { keys, now, secret } from '@parley/sdk/testing/honest.ts';
import { built, outputs, termsOn, viewOf } from '@parley/sdk/testing/materials.ts';
import { type Asked, verifyMaterial } from '@parley/sdk/verify-material.ts';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bars } from './bars.ts';
import { usually } from './miniature.ts';
import { atMost, type Effort, inRounds, median, type Row } from './report.ts';

const runs = usually(300, 1);
const asked: Asked = { verb: 'claim', secret };
const limits = { validUntil: null, outputs, now };
const key = hexToBytes(keys.taker);
const account = privateKeyToAccount(`0x${keys.taker}`);

export async function benchVerify({ rounds }: Pick<Effort, 'rounds'>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const family of families) {
    const terms = termsOn(family, false);
    const material = built(family, terms, asked);
    const work = () => {
      verifyMaterial(material, asked, terms, viewOf[family], limits);
      return sign(material);
    };
    const value = median(await inRounds(rounds, () => medianOf(work)));
    const name = `verify: verify and sign a claim on ${family}`;
    const against = `limit; median of ${runs} in each round`;
    rows.push(atMost(name, { value, unit: 'ms', limit: bars.verify.signedMs, bar: 1 }, against));
  }
  return rows;
}

async function medianOf(work: () => unknown): Promise<number> {
  const took: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  return median(took);
}

function sign(material: Material): unknown {
  switch (material.sign) {
    case 'btc-sighash':
      return signSighashes(key, material.sighashHexes);
    case 'tron-txid':
      return material.transactions.map((each) => signTronTransaction(key, each));
    case 'solana-tx':
      return ed25519.sign(readTransaction(material.transaction).message, key);
    case 'evm-tx': {
      const [call] = material.txs;
      const { chainId } = material;
      const fees = { gas: 100_000n, maxFeePerGas: 1n, nonce: 0 };
      const to = call?.to as Hex;
      const data = call?.data as Hex;
      return account.signTransaction({ type: 'eip1559', chainId, to, data, ...fees });
    }
    case 'btc-payment':
      throw new Error('a claim is no payment');
  }
}
