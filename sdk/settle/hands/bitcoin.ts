// Bitcoin: coins are spent once, so what waits too long is replaced by one that spends the same
// coins and pays more (BIP 125), and what came too late gets a coin of it spent otherwise. What may
// still be mined is never made a second time beside it.

import type { Material, Signed } from '../../../chains/interface/material.ts';
import { ParleyError } from '../../../core/errors.ts';
import { SettleError, VerificationError } from '../../errors.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { BitcoinWallet } from '../../wallets/wallet.ts';
import { type Context, look, type SetLeg, sourceOf } from '../context.ts';
import { due, overdue, send, sendToAll, waitAnew } from '../send.ts';
import { cancelFunding } from './bitcoin-late.ts';
import { raiseFunding } from './bitcoin-raise.ts';
import type { Hand, On, Spending } from './hand.ts';

type OnBitcoin = On<BitcoinWallet>;

export function bitcoinHand(context: Context, leg: SetLeg, wallet: BitcoinWallet): Hand {
  const on: OnBitcoin = { context, leg, wallet };
  return {
    approvesTokens: false,
    claimsPastTimelock: true,
    // Coins are set apart when they are chosen.
    alone: (work) => work(),
    takesTurns: false,
    keeping: (work) => work(),
    signFunding: () => [() => wallet.signPayment(leg.escrow.address, leg.amount, context.limit())],
    signSpend: async (built, asked) => ({ sign: () => signSpend(on, built, asked), gas: null }),
    forget: () => {},
    tendFunding: (record, funding) => sendFunding(on, record, funding),
    tendApproval: async (record) => record,
    recallApproval: async (record) => record,
    tendSpend: (record, verb, kept) => sendSpend(on, record, verb, kept),
    sendSpend: (record, verb, kept) => sendSpend(on, record, verb, kept),
    untilMined: async () => {},
    isStuck: (kept, wall) => {
      if (!overdue(context, leg, kept) && !isRaiseDue(context, kept, wall)) return false;
      waitAnew(context, kept);
      return true;
    },
    raiseFunding: (record, funding, seen) => raiseFunding(on, record, funding, seen),
    cancelFunding: (record, funding) => cancelFunding(on, record, funding),
    withdrawClaim: async (record) => record,
  };
}

async function signSpend(
  { context, leg, wallet }: OnBitcoin,
  built: Material,
  asked: Spending,
): Promise<Kept> {
  if (built.sign !== 'btc-sighash') {
    throw new VerificationError('sign', `for a ${wallet.family} wallet`, built.sign);
  }
  const { psbtBase64, sighashHexes } = built;
  const signaturesHex = await wallet.signSighashes(sighashHexes, context.limit());
  const preimage = asked.verb === 'claim' ? { preimageHex: asked.secret } : {};
  const psbt: Signed = { psbtBase64, signaturesHex, ...preimage };
  const { adapter } = sourceOf(context, leg.chain);
  const { txid, raw } = await adapter.readSigned(psbt, context.limit());
  const raiseAt = built.ladder[1]?.at;
  return raiseAt === undefined ? { txid, raw } : { txid, raw, raiseAt };
}

/** Whether the next step of its ladder has come; said once, the step after is its successor's. */
function isRaiseDue(context: Context, { txid, raiseAt }: Kept, wall: number): boolean {
  if (raiseAt === undefined || wall < raiseAt) return false;
  const key = `raised ${txid}`;
  if (context.sentAtMs.has(key)) return false;
  context.sentAtMs.set(key, performance.now());
  return true;
}

/** What Core says of a fee that its mempool does not take: waiting at this fee is of no use. */
const tooCheapForPool = /min(imum)? (relay )?fee|insufficient fee/i;

/** Sends the kept funding again while it may still be sent. Never makes another beside it. */
async function sendFunding(
  { context, leg, wallet }: OnBitcoin,
  record: SwapRecord,
  kept: Kept,
): Promise<SwapRecord> {
  wallet.reserve(kept.raw);
  if (!due(context, leg, kept)) return record;
  try {
    await send(context, leg, kept);
    return record;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
    if (tooCheapForPool.test(error.message)) {
      context.waitsSinceMs.set(kept.txid, -Infinity);
      context.tell('waiting', leg.leg, error.message, kept.txid);
      return record;
    }
    // A version of it may have been mined since the last look.
    const { state } = await look(context, record);
    if (state.legs[leg.leg].facts.funded !== null) return record;
    const sentence =
      `the node refuses the kept funding ${kept.txid}: ${error.message}. Its coins were probably ` +
      'spent elsewhere. Nothing is signed again, because both might be mined';
    throw new SettleError('funding_replaced', sentence, { cause: error });
  }
}

/** One that no node takes is made anew: it spends the escrow's own payments. */
async function sendSpend(
  { context, leg }: OnBitcoin,
  record: SwapRecord,
  verb: Spending['verb'],
  kept: Kept,
): Promise<SwapRecord> {
  try {
    await sendToAll(context, leg, kept);
    return record;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
    const next = { ...record, [verb]: null };
    await context.store.putSwap(next);
    return next;
  }
}
