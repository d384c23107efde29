// Refunds signed beforehand, in Bitcoin's own bytes: how a party makes them, how the simulated
// chain reads them, and what a node answers of them. The rules are the real ones
// (chains/bitcoin/scheduled.ts), fees those of the simulated mempool.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx, Transaction } from '@scure/btc-signer';
import { signedLadder } from '../../chains/bitcoin/fee-ladder.ts';
import {
  type Conflict,
  defaultFeeBounds,
  type FeeEstimate,
  feeAt,
  rateOf,
} from '../../chains/bitcoin/fees.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { buildSpend, destination, type EscrowOutput, vsizeOf } from '../../chains/bitcoin/plan.ts';
import { scheduledRefunds } from '../../chains/bitcoin/scheduled.ts';
import { assemble } from '../../chains/bitcoin/signed-psbt.ts';
import type { ScheduledRefunds } from '../../chains/interface/scheduled.ts';
import { atAStretch } from '../../chains/interface/turns.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { clockAt, type SimChain } from './chain.ts';
import { historyOf, type Node, viewOf } from './facts.ts';
import { bidOf, type SimTransaction } from './transaction.ts';

const network = bitcoinNetworks.regtest;
const anyScript = { allowUnknownInputs: true, allowUnknownOutputs: true } as const;

/** What a node estimates: blocks take whatever pays their floor. */
function estimateOf({ feeFloor }: SimChain, at: number): FeeEstimate {
  return { slow: feeFloor, medium: feeFloor + 1, fast: feeFloor + 2, least: 1, increment: 1, at };
}

/** The escrow that a payment, mined or waiting, is in. */
function paymentOf(chain: SimChain, txid: string): { escrow: string; amount: bigint } | null {
  for (const [escrow, held] of chain.holdings) {
    const found = held.find((each) => each.txid === txid);
    if (found !== undefined) return { escrow, amount: found.amount };
  }
  const tx = chain.mempool.get(txid)?.tx;
  return tx?.verb === 'fund' ? { escrow: tx.escrow, amount: BigInt(tx.amount) } : null;
}

/** Null where the chain has no coins for it, or where it is no refund of these terms. */
export function rungIn(chain: SimChain, raw: string): SimTransaction | null {
  const bytes = hexToBytes(raw);
  const { inputs, outputs, lockTime } = RawTx.decode(bytes);
  const coins = inputs.map(({ txid }) => bytesToHex(txid));
  const payments = coins.map((each) => paymentOf(chain, each));
  const [first] = payments;
  const terms = chain.plans.get(first?.escrow ?? '');
  const [output] = outputs;
  if (first == null || terms === undefined || output === undefined) return null;
  if (payments.some((each) => each?.escrow !== first.escrow)) return null;
  const { script } = destination(terms, network, 'refund');
  const isRefund = lockTime === terms.timelock && bytesToHex(output.script) === bytesToHex(script);
  if (!isRefund || terms.refund.pubkey === null) return null;
  const paid = payments.reduce((sum, each) => sum + (each?.amount ?? 0n), 0n);
  const feeSats = paid - output.amount;
  const rate = rateOf(feeSats, vsizeOf(terms, network, 'refund', coins.length));
  const { id: txid } = Transaction.fromRaw(bytes, anyScript);
  return {
    chain: chain.chain,
    verb: 'refund',
    escrow: first.escrow,
    by: terms.refund.pubkey,
    coins,
    amount: '0',
    secret: null,
    fee: Number(feeSats),
    own: { raw, txid, rate },
  };
}

type Answering = {
  readonly node: Node;
  /** Unix seconds. */
  readonly now: () => number;
  readonly call: <R>(name: string, work: () => R) => Promise<R>;
  /** That the process has seen. */
  readonly secretOf: (hashlock: string) => string | null;
};

export function scheduledOn({ node, now, call, secretOf }: Answering): ScheduledRefunds {
  const { chain } = node;
  const inMempool = () => (viewOf(node, node.lag).mempool ? [...chain.mempool.values()] : []);
  const real = scheduledRefunds({
    network,
    bounds: defaultFeeBounds,
    now,
    estimate: () => call('estimate', () => estimateOf(chain, now())),
    history: ({ address: escrow, terms, requiredConfirmations: required }) =>
      call('refundHistory', () => {
        const secret = secretOf(terms.hashlock);
        const { history, view } = historyOf(node, { escrow, required, secret });
        return { history, clock: clockAt(chain, view.height) };
      }),
    second: null,
    backend: {
      mempoolEntry: (txid) =>
        call('mempoolEntry', () => {
          const found = inMempool().find((each) => each.txid === txid);
          return found === undefined ? null : conflictOf(chain, found.txid, found.tx);
        }),
      spenders: (outpoints) =>
        call('spenders', () => {
          const spent = outpoints.map((each) => each.split(':')[0]);
          const found = inMempool().filter(({ tx }) =>
            tx.coins.some((coin) => spent.includes(coin)),
          );
          return found.map(({ txid }) => txid);
        }),
    },
  });
  // Without turns of the event loop, whose number a seed does not decide.
  const inTurns = atAStretch;
  return {
    ...real,
    check: (escrow, asking, signal) => real.check(escrow, { ...asking, inTurns }, signal),
  };
}

function conflictOf(chain: SimChain, txid: string, tx: SimTransaction): Conflict {
  const terms = chain.plans.get(tx.escrow) as EscrowTerms;
  const vsize = vsizeOf(terms, network, 'refund', tx.coins.length);
  const feeSats = tx.own === undefined ? feeAt(vsize, bidOf(tx)) : BigInt(tx.fee);
  return { txid, vsize, feeSats, withDescendantsFeeSats: feeSats };
}

export type Rung = { readonly txid: string; readonly raw: string; readonly rate: number };

/** Signed with this key, whoever's it is; throws what the builder of a spend throws. */
function signRung(
  terms: EscrowTerms,
  coins: readonly EscrowOutput[],
  feeSats: bigint,
  key: Uint8Array,
): Rung {
  const spend = buildSpend(terms, network, 'refund', coins, feeSats);
  const { psbtBase64, sighashHexes, vsize } = spend;
  const format = { prehash: false, lowS: true } as const;
  const signaturesHex = sighashHexes.map((each) =>
    bytesToHex(secp256k1.sign(hexToBytes(each), key, format)),
  );
  return { ...assemble({ psbtBase64, signaturesHex }), rate: rateOf(feeSats, vsize) };
}

/** So many of the fees that the SDK would sign: each costs a millisecond or two here. */
const rungsSigned = 5;

/** From the least that is relayed to far above what blocks take now. */
export function signLadder(
  chain: SimChain,
  terms: EscrowTerms,
  coins: readonly EscrowOutput[],
  key: Uint8Array,
): Rung[] {
  const value = coins.reduce((sum, { amount }) => sum + amount, 0n);
  const vsize = vsizeOf(terms, network, 'refund', coins.length);
  const estimate = estimateOf(chain, 0);
  const fees = signedLadder({ estimate, bounds: defaultFeeBounds, vsize, value });
  const step = (fees.length - 1) / (rungsSigned - 1);
  const few = Array.from({ length: rungsSigned }, (_, at) => fees[Math.round(at * step)] as bigint);
  const wanted = fees.length <= rungsSigned ? fees : few;
  return wanted.map((fee) => signRung(terms, coins, fee, key));
}
