// What a customer's own check of a claim built by the market costs, with its signature: of each
// family the bytes are compared with what the terms come to, and signed with a key at hand.

import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { rateOf } from '../chains/bitcoin/fees.ts';
import { signSighashes } from '../chains/bitcoin/keys.ts';
import { bitcoinEscrow, buildSpend, vsizeOf } from '../chains/bitcoin/plan.ts';
import { claimCall as evmClaim, evmEscrow } from '../chains/evm/plan.ts';
import type { Material } from '../chains/interface/material.ts';
import { readTransaction } from '../chains/solana/message.ts';
import { solanaDeployment, solanaEscrow, solanaTransaction } from '../chains/solana/plan.ts';
import { solanaChains } from '../chains/solana/policy.ts';
import { solanaAddressOfSeed } from '../chains/solana/proof.ts';
import { signTronTransaction } from '../chains/tron/broadcast.ts';
import { claimCall as tronClaim, tronEscrow, tronTransaction } from '../chains/tron/plan.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { freshLane } from '../core/testing.ts';
import { bitcoinView, evmView, keys, now, secret, termsOf } from '../sdk/testing/honest.ts';
import type { ChainView } from '../sdk/trade.ts';
import { type Asked, verifyMaterial } from '../sdk/verify-material.ts';
import { atMost, type Effort, inRounds, median, type Row } from './report.ts';

const limitMs = 5;
const runs = 300;
const asked: Asked = { verb: 'claim', secret };
const timelock = now + 20_000;
const key = hexToBytes(keys.taker);

type Case = { readonly family: string; readonly work: () => unknown };

export async function benchVerify({ rounds }: Pick<Effort, 'rounds'>): Promise<Row[]> {
  const cases = [bitcoin(), evm(), tron(), solana()];
  const rows: Row[] = [];
  for (const { family, work } of cases) {
    const value = median(await inRounds(rounds, () => medianOf(work)));
    const name = `verify: verify and sign a claim on ${family}`;
    const against = `limit; median of ${runs} in each round`;
    rows.push(atMost(name, { value, unit: 'ms', limit: limitMs, bar: 1 }, against));
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

function bitcoin(): Case {
  const terms = termsOf('b', timelock);
  const { network } = bitcoinView;
  const outputs = [{ txid: 'cd'.repeat(32), vout: 1, amount: 1_000_000n }];
  const { psbtBase64, sighashHexes } = buildSpend(terms, network, 'claim', outputs, 400n);
  const feeRateSatPerVbyte = rateOf(400n, vsizeOf(terms, network, 'claim', 1));
  const material: Material = {
    chain: bitcoinView.chain,
    family: 'bitcoin',
    sign: 'btc-sighash',
    psbtBase64,
    sighashHexes,
    escrow: bitcoinEscrow(terms, network).address,
    feeSats: '400',
    feeRateSatPerVbyte,
    ladder: [{ at: timelock, feeRateSatPerVbyte, feeSats: '400' }],
  };
  const limits = { validUntil: null, outputs };
  return {
    family: 'bitcoin',
    work: () => {
      verifyMaterial(material, asked, terms, bitcoinView, limits);
      return signSighashes(key, sighashHexes);
    },
  };
}

function evm(): Case {
  const terms = termsOf('a', timelock);
  const { chain, chainId, deployment } = evmView;
  const call = evmClaim(terms, deployment, secret);
  const escrow = evmEscrow(terms, deployment).address;
  const material: Material = { chain, family: 'evm', sign: 'evm-tx', chainId, txs: [call], escrow };
  const account = privateKeyToAccount(`0x${keys.taker}`);
  return {
    family: 'evm',
    work: () => {
      verifyMaterial(material, asked, terms, evmView);
      return account.signTransaction({
        type: 'eip1559',
        chainId,
        to: call.to as Hex,
        data: call.data as Hex,
        nonce: 0,
        gas: 100_000n,
        maxFeePerGas: 1n,
      });
    },
  };
}

function termsBetween(chain: string, addressOf: (key: Uint8Array) => string): EscrowTerms {
  return {
    chain,
    hashlock: hashlockOf(secret),
    payout: { address: addressOf(key), pubkey: null },
    refund: { address: addressOf(hexToBytes(keys.maker)), pubkey: null },
    token: null,
    amount: 600_000_000n,
    timelock,
    ...(chain === 'tron' ? { fundBefore: timelock - 600, lane: freshLane() } : {}),
  };
}

function tron(): Case {
  const contract = tronAddressOfKey(new Uint8Array(32).fill(9));
  const deployment = { chainId: 7, contract };
  const view: ChainView = { family: 'tron', chain: 'tron', deployment, policy: tronDevPolicy };
  const terms = termsBetween(view.chain, tronAddressOfKey);
  const call = tronClaim(terms, deployment, secret);
  const transaction = tronTransaction(call, {
    refBlockBytes: '00ff',
    refBlockHash: '0123456789abcdef',
    expiration: (now + 600) * 1_000,
    timestamp: now * 1_000,
    feeLimitSun: 30_000_000n,
  });
  const material: Material = {
    chain: view.chain,
    family: 'tron',
    sign: 'tron-txid',
    from: call.from,
    transactions: [transaction],
    escrow: tronEscrow(terms, deployment).address,
  };
  const limits = { validUntil: null, outputs: null, now };
  return {
    family: 'tron',
    work: () => {
      verifyMaterial(material, asked, terms, view, limits);
      return signTronTransaction(key, transaction);
    },
  };
}

function solana(): Case {
  const deployment = solanaDeployment;
  const { policy } = solanaChains.solana;
  const view: ChainView = { family: 'solana', chain: 'solana', deployment, policy };
  const terms = termsBetween(view.chain, solanaAddressOfSeed);
  const blockhash = base58.encode(new Uint8Array(32).fill(7));
  const how = { blockhash, unitPrice: 1_000n, tokenProgram: null };
  const transaction = solanaTransaction(terms, deployment, asked, how);
  const material: Material = {
    chain: view.chain,
    family: 'solana',
    sign: 'solana-tx',
    transaction,
    lastValidBlockHeight: 1_000,
    escrow: solanaEscrow(terms, deployment).address,
  };
  return {
    family: 'solana',
    work: () => {
      verifyMaterial(material, asked, terms, view);
      return ed25519.sign(readTransaction(transaction).message, key);
    },
  };
}
