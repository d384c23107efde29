// Bitcoin: a transaction that waits too long is replaced by one that spends the same coins and pays
// more (BIP 125). A late funding gets a coin spent otherwise.

import type { Material, Signed } from '@parley/chains/interface/material.ts';
import { isRefusedByNode, SettleError, VerificationError } from '../../errors.ts';
import { type Kept, keptNow } from '../../stores/store.ts';
import { signaturesOf } from '../../wallets/bitcoin.ts';
import type { BitcoinCoins, BitcoinKey, BitcoinWallet } from '../../wallets/wallet.ts';
import { snapshot } from '../chains.ts';
import { type Context, type On, sourceOf } from '../context.ts';
import { mayRaise } from '../machine.ts';
import type { SetLeg } from '../record.ts';
import { due, overdue, send, sendAlone, sendToAll, waitAnew } from '../send.ts';
import {
  buildAnew,
  forgetFunding,
  type Hand,
  isInVain,
  keepCancel,
  noFee,
  notYetDeep,
  type Spending,
  unshared,
} from './hand.ts';

type OnBitcoin = On<BitcoinWallet>;

export function bitcoinHand(context: Context, leg: SetLeg, wallet: BitcoinWallet): Hand {
  const on: OnBitcoin = { context, leg, wallet };
  const sendSpendNow = (verb: Spending['verb']) => sendSpend(on, verb);
  return {
    ...unshared,
    paysByHand: !hasCoins(wallet),
    approvesTokens: false,
    // Coins are set apart when they are chosen.
    alone: (work) => work(),
    signFunding: () => [
      () => coinsOf(wallet).signPayment(leg.escrow.address, leg.amount, context.limit()),
    ],
    signSpend: async (built, asked) => ({ sign: () => signSpend(on, built, asked), gas: null }),
    tendFunding: async () => {
      await sendFunding(on);
      return 'tended';
    },
    tendApproval: async () => {},
    recallApproval: async () => {},
    tendSpend: (verb) => tendSpend(on, verb),
    sendSpend: sendSpendNow,
    untilMined: async () => {},
    isStuck: (kept, wall) => {
      if (!overdue(context, leg, kept) && !isRaiseDue(context, kept, wall)) return false;
      waitAnew(context, kept);
      return true;
    },
    raiseFunding: () => raiseFunding(on),
    cancelFunding: () => cancelFunding(on),
  };
}

function hasCoins(wallet: BitcoinWallet): wallet is BitcoinKey & BitcoinCoins {
  return wallet.signPayment !== undefined;
}

function coinsOf(wallet: BitcoinWallet): BitcoinCoins {
  if (hasCoins(wallet)) return wallet;
  throw new SettleError('no_wallet', `the wallet of ${wallet.pubkey} has no coins to pay with`);
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
  const { terms } = leg.escrow;
  const signaturesHex = await signaturesOf(wallet, terms, sighashHexes, context.limit());
  const preimage = asked.verb === 'claim' ? { preimageHex: asked.secret } : {};
  const psbt: Signed = { psbtBase64, signaturesHex, ...preimage };
  const { adapter } = sourceOf(context, leg.chain);
  const { txid, raw } = await adapter.readSigned(psbt, context.limit());
  const raiseAt = built.ladder[1]?.at;
  return raiseAt === undefined ? { txid, raw } : { txid, raw, raiseAt };
}

/** Whether the next step of its fee bump schedule has come: once, the step after is another's. */
function isRaiseDue(context: Context, { txid, raiseAt }: Kept, wall: number): boolean {
  if (raiseAt === undefined || wall < raiseAt) return false;
  const key = `raised ${txid}`;
  if (context.sentAtMs.has(key)) return false;
  context.sentAtMs.set(key, performance.now());
  return true;
}

/** Core's error for a fee below the minimum of its mempool: waiting at this fee is of no use. */
const tooCheapForPool = /min(imum)? (relay )?fee|insufficient fee/i;

/** Sends the kept funding again while it may still be sent. Never makes another beside it. */
async function sendFunding({ context, leg, wallet }: OnBitcoin): Promise<void> {
  const { funding } = context.record;
  if (funding === null) return;
  wallet.reserve?.(funding.raw);
  if (!due(context, leg, funding)) return;
  const { txid } = funding;
  try {
    await send(context, leg, funding);
  } catch (error) {
    if (!isRefusedByNode(error)) throw error;
    if (tooCheapForPool.test(error.message)) {
      context.waitsSinceMs.set(txid, -Infinity);
      return context.waits(leg, error.message, { txid });
    }
    // A version of it may have been mined since the chain was read.
    const { state } = await snapshot(context);
    if (state.legs[leg.leg].facts.funded !== null) return;
    const sentence =
      `the node refuses the kept funding ${txid}: ${error.message}. Its coins were probably ` +
      'spent elsewhere. Nothing is signed again, because both might be mined';
    throw new SettleError('funding_replaced', sentence, { cause: error });
  }
}

/** One that its node shows is raised in time (`isStuck`), and waits anew then. */
async function tendSpend(on: OnBitcoin, verb: Spending['verb']): Promise<void> {
  const { context, leg } = on;
  const kept = context.record[verb];
  if (kept !== null && isInVain(context, leg, kept)) return buildAnew(context, leg, verb, kept);
  return sendSpend(on, verb);
}

/** One that no node takes is made anew: it spends the escrow's own payments. */
async function sendSpend({ context, leg }: OnBitcoin, verb: Spending['verb']): Promise<void> {
  const kept = context.record[verb];
  if (kept === null) return;
  try {
    await sendToAll(context, leg, kept);
  } catch (error) {
    if (!isRefusedByNode(error)) throw error;
    await context.keep({ [verb]: null });
  }
}

/** A funding that no block takes, until the time to fund has passed. */
async function raiseFunding({ context, leg, wallet }: OnBitcoin): Promise<void> {
  const { funding } = context.record;
  if (funding === null || !overdue(context, leg, funding)) return;
  waitAnew(context, funding);
  if (!hasCoins(wallet)) return signedElsewhere({ context, leg }, funding);
  wallet.reserve(funding.raw);
  const payment = { payTo: leg.escrow.address, amountSats: leg.amount };
  const raised = await wallet.signRaise(funding, payment, context.limit());
  if (typeof raised === 'string') {
    const why =
      raised === 'no_fee'
        ? 'the change and the limits of the wallet leave no room for a higher fee'
        : 'a block spends a coin of the funding';
    return context.waits(leg, why, { txid: funding.txid });
  }
  // Signing may have taken long.
  if (!mayRaise(context.record, await snapshot(context))) return;
  await context.keep({ funding: keptNow(raised) });
  const text = 'sends the funding again, with a higher fee';
  context.emit('replaced', leg.leg, text, raised.txid);
  // The market relays no second funding. Where the node refuses it, whichever version it has goes
  // on.
  await sendOrWait({ context, leg }, raised);
}

function signedElsewhere({ context, leg }: Omit<OnBitcoin, 'wallet'>, { txid }: Kept): void {
  const why = 'another wallet signed the funding: this one has no coins to raise or cancel it with';
  context.waits(leg, why, { txid });
}

async function sendOrWait({ context, leg }: Omit<OnBitcoin, 'wallet'>, kept: Kept): Promise<void> {
  try {
    await sendAlone(context, leg, kept);
  } catch (error) {
    if (!isRefusedByNode(error)) throw error;
    context.waits(leg, error.message, { txid: kept.txid });
  }
}

/** One of its coins is spent back to the wallet, so that it can never be mined unexpectedly. */
async function cancelFunding(on: OnBitcoin): Promise<void> {
  const { context, leg, wallet } = on;
  const { funding, cancel = null } = context.record;
  if (funding === null) return;
  if (!hasCoins(wallet)) return signedElsewhere(on, funding);
  wallet.reserve(funding.raw);
  if (cancel !== null) {
    const depth = await wallet.confirmations(cancel, context.limit());
    if (depth !== null && depth >= leg.requiredConfirmations) {
      wallet.release(funding.raw, cancel);
      return forgetFunding(context, leg);
    }
    if (depth !== null) return notYetDeep(context, leg);
  }
  if (!overdue(context, leg, cancel ?? funding)) {
    if (cancel !== null && due(context, leg, cancel)) await sendOrWait(on, cancel);
    return;
  }
  const signed = await wallet.signCancel(funding.raw, cancel, context.limit());
  if (signed === 'no_fee') return noFee(context, leg, cancel ?? funding);
  if (signed === 'coins_gone') return coinsGone(on, funding);
  await keepCancel(context, leg, signed);
  await sendOrWait(on, signed);
}

/** A block spends a coin of the funding: the funding itself, as will show, or something else. */
function coinsGone({ context, leg }: OnBitcoin, { txid }: Kept): void {
  context.waits(leg, `a coin of the funding ${txid} is spent`);
  // A wait of its own, from when the coin was first missed.
  if (!overdue(context, leg, { txid: `${txid} is gone` })) return;
  const sentence =
    `the late funding ${txid} is not mined, and a coin of it is spent elsewhere. It can ` +
    'only be mined if that is taken back';
  throw new SettleError('funding_replaced', sentence);
}
