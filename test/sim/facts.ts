// What one node of a simulated chain shows of an escrow: the chain up to the block where the node
// stands, its mempool if it is not behind, and what it lies about. Bitcoin's rules are those of the
// real adapter (chains/bitcoin/escrow-facts.ts).

import { type EscrowSpend, escrowFacts, type Payment } from '../../chains/bitcoin/escrow-facts.ts';
import { findSecret } from '../../chains/bitcoin/escrow-script.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '../../core/facts.ts';
import { type Mined, minedAbout, type SimChain, takes, tipOf, waitingAt } from './chain.ts';
import type { SimTransaction } from './transaction.ts';

export type Lie = 'funded' | 'absent';

export type Node = {
  readonly chain: SimChain;
  down: boolean;
  slow: boolean;
  /** Blocks that the first source, and the second, are behind. */
  lag: number;
  otherLag: number;
  /** What the first source says of an escrow's funding against the truth. */
  readonly lies: Map<string, Lie>;
};

export const nodeWith = (chain: SimChain): Node => ({
  chain,
  down: false,
  slow: false,
  lag: 0,
  otherLag: 0,
  lies: new Map(),
});

export type NodeView = { readonly height: number; readonly mempool: boolean };

export function viewOf({ chain }: Node, lag: number): NodeView {
  return { height: Math.max(0, tipOf(chain).height - lag), mempool: lag === 0 };
}

type Seen = Omit<Mined, 'height'> & { readonly height: number | null };

/** Everything about an escrow that the view shows, mined first. */
function seenOf(chain: SimChain, escrow: string, { height, mempool }: NodeView): Seen[] {
  const mined = minedAbout(chain, escrow).filter((each) => each.height <= height);
  if (!mempool) return mined;
  return [
    ...mined,
    ...waitingAt(chain, escrow).map((each) => ({ ...each, height: null, ok: true })),
  ];
}

/** The secret that a node finds in a transaction; on Bitcoin wherever it stands in it, by hash. */
function secretIn(chain: SimChain, { escrow, secret, pushes }: SimTransaction): string | null {
  if (chain.family !== 'bitcoin') return secret;
  const items = pushes ?? (secret === null ? [] : [secret]);
  const bytes = items.map((each) => Uint8Array.from(Buffer.from(each, 'hex')));
  return findSecret(bytes, chain.plans.get(escrow)?.hashlock ?? '');
}

/** Secrets that transactions about the escrow show, failed ones too. */
export function secretsIn(chain: SimChain, escrow: string, view: NodeView): string[] {
  const all = seenOf(chain, escrow, view).map(({ tx }) => secretIn(chain, tx));
  return all.filter((each) => each !== null);
}

export type Asking = {
  readonly escrow: string;
  readonly required: number;
  readonly secret: string | null;
};

export function factsOf(chain: SimChain, view: NodeView, asked: Asking): EscrowFacts {
  const seen = seenOf(chain, asked.escrow, view).filter(({ ok }) => ok);
  return chain.family === 'bitcoin'
    ? bitcoinFacts(chain, view, asked, seen)
    : accountFacts(chain, view, asked, seen);
}

function bitcoinFacts(
  chain: SimChain,
  view: NodeView,
  { escrow, required, secret }: Asking,
  seen: readonly Seen[],
): EscrowFacts {
  const payments = paymentsOf(chain, seen);
  const amount = chain.plans.get(escrow)?.amount ?? 0n;
  return escrowFacts({ payments, secret, tip: view.height }, amount, required);
}

function paymentsOf(chain: SimChain, seen: readonly Seen[]): Payment[] {
  const spends = seen.filter(({ tx }) => tx.verb === 'claim' || tx.verb === 'refund');
  return seen
    .filter(({ tx }) => tx.verb === 'fund')
    .map(({ txid, tx, height }): Payment => {
      const by = spends.find((each) => takes(chain, each.tx, txid));
      const spend: EscrowSpend | null =
        by === undefined
          ? null
          : { txid: by.txid, height: by.height, secret: secretIn(chain, by.tx) };
      return { txid, vout: 0, amount: BigInt(tx.amount), height, coinbase: false, spend };
    });
}

function accountFacts(
  chain: SimChain,
  view: NodeView,
  { escrow, required, secret }: Asking,
  seen: readonly Seen[],
): EscrowFacts {
  const sight = (found: Seen | undefined): Sighting | null => {
    if (found === undefined) return null;
    const confirmations = found.height === null ? 0 : view.height - found.height + 1;
    return { txid: found.txid, confirmations, deep: confirmations >= required };
  };
  const fund = seen.find(({ tx }) => tx.verb === 'fund');
  if (fund === undefined) return { ...nothingSeen, secret };
  const amount = chain.plans.get(escrow)?.amount ?? 0n;
  const spends = seen.filter(({ tx }) => tx.verb === 'claim' || tx.verb === 'refund');
  const mined = spends.find(({ height }) => height !== null);
  const spend = mined ?? spends[0];
  const balance = fund.height !== null && mined === undefined ? amount : 0n;
  const settled = sight(mined)?.deep ?? false;
  return {
    funded: sight(fund),
    claimed: spend?.tx.verb === 'claim' ? sight(spend) : null,
    refunded: spend?.tx.verb === 'refund' ? sight(spend) : null,
    secret,
    balance,
    empty: balance === 0n && settled,
  };
}

/** As a source that lies tells them. */
export function withLie(facts: EscrowFacts, lie: Lie | undefined, required: number): EscrowFacts {
  if (lie === undefined || facts.claimed !== null || facts.refunded !== null) return facts;
  if (lie === 'absent') return { ...nothingSeen, secret: facts.secret };
  const txid = facts.funded?.txid ?? '00'.repeat(32);
  const funded = { txid, confirmations: required, deep: true };
  return { ...facts, funded, balance: facts.balance, empty: false };
}
