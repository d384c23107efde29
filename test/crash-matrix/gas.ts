// An operator's gas key on a simulated EVM chain: as many nonces as it likes, one transaction each.

import type {
  GasAccount,
  GasFate,
  GasTransaction,
  GasWork,
  Paid,
} from '../../chains/gas/account.ts';
import { alone } from '../../chains/gas/work.ts';
import type { Gas } from '../../server/ports/gas.ts';
import { planOf } from '../sim/adapter.ts';
import { issue, type Mined, type SimChain, tipOf } from '../sim/chain.ts';
import { bidOf, rawOf, transactionOf, txidOf } from '../sim/transaction.ts';
import type { Wire } from '../sim/wire.ts';

const address = `0x${'9a'.repeat(20)}`;
const plenty = 10n ** 12n;

export const fillGasKey = (chain: SimChain): void => issue(chain, address, plenty);

/** Base units that a transaction costs and keeps at hand; that it may cost is twice as much. */
export const cost = 10;
const [kept, mostTimes] = [40n, 2];

export function gasOn(chain: SimChain, wire: Wire): Gas {
  const call = <R>(name: string, work: () => R) => wire.at(`${chain.chain} ${name}`, work);
  const account: GasAccount = {
    chain: chain.chain,
    address,
    balance: () => call('balance', () => chain.balances.get(address) ?? 0n),
    minedNonce: () => call('minedNonce', () => minedOf(chain).length),
    pendingNonce: () => call('pendingNonce', () => pendingOf(chain)),
    reserve: () => call('reserve', () => kept),
    quote: () => call('quote', () => ({ mostCost: mostCostOf(cost), makesAccount: false })),
    sign: (work, { nonce, above }) =>
      call('signGas', () => signed(chain, work, nonce ?? 0, above?.offer ?? null)),
    outbid: ({ raw }) => call('outbid', () => (isTaken(chain, raw) ? null : 'price')),
    fate: ({ txid, nonce }) => call('fate', () => fateOf(chain, txid, nonce ?? 0)),
    paid: (txid) => call('paid', () => paidOf(chain, txid)),
  };
  const graces = { claimSeconds: 0, refundSeconds: 0 };
  const relays = { cap: plenty, perAccount: 1_000, tokenAccounts: 0 };
  const fundings = { cap: 0n, perAccount: 0 };
  return { account, dailyCap: plenty, lowBalance: 0n, graces, relays, fundings };
}

const coinOf = (nonce: number) => `gas-${nonce}`;
const mostCostOf = (fee: number) => BigInt(fee * mostTimes);

function minedOf(chain: SimChain): Mined[] {
  return [...chain.about.values()].flat().filter(({ tx }) => tx.by === address);
}

/** What the chain has taken of the key's coins. */
export const spentBy = (chain: SimChain): number =>
  minedOf(chain).reduce((sum, { tx }) => sum + tx.fee, 0);

function pendingOf(chain: SimChain): number {
  const waiting = new Set([...chain.mempool.values()].flatMap(({ tx }) => tx.coins));
  let { length: nonce } = minedOf(chain);
  while (waiting.has(coinOf(nonce))) nonce += 1;
  return nonce;
}

function isTaken(chain: SimChain, raw: string): boolean {
  const tx = transactionOf(raw);
  return tx !== null && bidOf(tx) >= chain.feeFloor;
}

function paidOf(chain: SimChain, txid: string): Paid | null {
  const mined = minedOf(chain).find((each) => each.txid === txid);
  return mined === undefined ? null : { cost: BigInt(mined.tx.fee), said: 1 };
}

function signed(
  chain: SimChain,
  asked: GasWork,
  nonce: number,
  above: bigint | null,
): GasTransaction {
  const work = alone(chain.chain, asked);
  const escrow = work.verb === 'void' ? 'nobody' : planOf(chain, work.terms).address;
  const verb = work.verb === 'void' ? 'move' : work.verb;
  const secret = work.verb === 'claim' ? work.secret : null;
  const fee = above === null ? cost : Number(above) + 1;
  const about = { chain: chain.chain, escrow, by: address, coins: [coinOf(nonce)], fee };
  const raw = rawOf({ ...about, verb, amount: '0', secret });
  const touches = verb === 'move' ? [] : [{ escrow, verb, secret }];
  const cap = { offer: BigInt(fee), mostCost: mostCostOf(fee), diesAt: null };
  return { txid: txidOf(raw), raw, touches, payer: address, nonce, ...cap };
}

function fateOf(chain: SimChain, txid: string, nonce: number): GasFate {
  const mined = [...chain.about.values()].flat().find((each) => each.txid === txid);
  if (mined === undefined) {
    if (chain.mempool.has(txid)) return 'pending';
    return chain.spent.has(coinOf(nonce)) ? 'gone' : 'unknown';
  }
  if (!mined.ok) return 'failed';
  const depth = tipOf(chain).height - mined.height + 1;
  return depth >= chain.policy.high.confirmations ? 'deep' : 'mined';
}
