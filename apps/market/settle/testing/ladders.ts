// Tests only: schedules of refunds that the initiator of a deal signed beforehand, and of claims by
// its counterparty.

import assert from 'node:assert/strict';
import { feeAt } from '@parley/chains/bitcoin/fees.ts';
import { signLeaves, signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { buildSpend, type EscrowOutput, type Verb, vsizeOf } from '@parley/chains/bitcoin/plan.ts';
import { parseTx } from '@parley/chains/bitcoin/raw-transaction.ts';
import { assemble } from '@parley/chains/bitcoin/signed-psbt.ts';
import type { Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { escrowsOfSwap, termsOf } from '../../db/escrows.ts';
import { type Deal, must, swapOf, type World } from './world.ts';

const network = bitcoinNetworks.regtest;

async function termsOfLong(world: World, deal: Deal): Promise<EscrowTerms> {
  const rows = await escrowsOfSwap(world.deps.db, deal.id);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  const row = rows.find(({ address }) => address === escrow);
  assert.ok(row);
  return termsOf(row.terms);
}

async function paymentsIn(
  world: World,
  deal: Deal,
  fundings: readonly string[],
): Promise<EscrowOutput[]> {
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  const script = await world.bitcoinRpc<{ scriptPubKey: string }>('validateaddress', [escrow]);
  const outputs: EscrowOutput[] = [];
  for (const txid of fundings) {
    const raw = await world.bitcoinRpc<string>('getrawtransaction', [txid]);
    for (const [vout, { script: paid, amount }] of parseTx(raw).outputs.entries()) {
      if (Buffer.from(paid).toString('hex') === script.scriptPubKey) {
        outputs.push({ txid, vout, amount });
      }
    }
  }
  return outputs;
}

/** Signed spends of the payments in these transactions, at these rates; claims lack the secret. */
export async function ladderOf(
  world: World,
  deal: Deal,
  fundings: readonly string[],
  rates: readonly number[],
  verb: Verb = 'refund',
) {
  const terms = await termsOfLong(world, deal);
  const outputs = await paymentsIn(world, deal, fundings);
  const vsize = vsizeOf(terms, network, verb, outputs.length);
  const { btcKey } = verb === 'refund' ? deal.initiator : deal.counterparty;
  return rates.map((rate) => {
    const built = buildSpend(terms, network, verb, outputs, feeAt(vsize, rate));
    const sign = terms.form === 'p2tr' ? signLeaves : signSighashes;
    const signaturesHex = sign(btcKey, built.sighashHexes);
    return assemble({ psbtBase64: built.psbtBase64, signaturesHex }, verb);
  });
}

/** Built and signed by the counterparty, and not sent. */
export async function claimAt({ id, long, counterparty, secret }: Deal, rate: number) {
  const claim = `/v1/swaps/${id}/legs/${long}/claim?feeRate=${rate}`;
  const { psbtBase64, sighashHexes } = must(await counterparty.post(claim, { secret }));
  const signaturesHex = signSighashes(counterparty.btcKey, sighashHexes);
  return assemble({ psbtBase64, signaturesHex, preimageHex: secret });
}

/** The same steps, of each of which `note` hears. */
export function* noted<R>(steps: Steps<R>, note: () => unknown): Steps<R> {
  for (;;) {
    note();
    const { done, value } = steps.next();
    if (done) return value;
    yield;
  }
}

export const raws = (ladder: readonly { raw: string }[]) => ladder.map(({ raw }) => raw);
