// An operator's gas key on a simulated EVM chain: as many nonces as it likes, one transaction each.

import type { GasAccount, GasFate, GasTransaction, GasWork } from '../../chains/gas-account.ts';
import type { Gas } from '../../server/keeper/gas.ts';
import { planOf } from '../sim/adapter.ts';
import { issue, type SimChain, tipOf } from '../sim/chain.ts';
import { rawOf, txidOf } from '../sim/transaction.ts';
import type { Wire } from '../sim/wire.ts';

const address = `0x${'9a'.repeat(20)}`;
const plenty = 10n ** 12n;

export const fillGasKey = (chain: SimChain): void => issue(chain, address, plenty);

/** Base units that a transaction costs and keeps at hand. */
const [cost, kept] = [10, 40n];

export function gasOn(chain: SimChain, wire: Wire): Gas {
  const call = <R>(name: string, work: () => R) => wire.at(`${chain.chain} ${name}`, work);
  const account: GasAccount = {
    chain: chain.chain,
    address,
    balance: () => call('balance', () => chain.balances.get(address) ?? 0n),
    minedNonce: () => call('minedNonce', () => minedOf(chain)),
    reserve: () => call('reserve', () => kept),
    quote: () => call('quote', () => ({ mostCost: BigInt(cost), makesAccount: false })),
    sign: (work, { nonce, above }) =>
      call('signGas', () => signed(chain, work, nonce ?? 0, above?.offer ?? null)),
    fate: ({ txid, nonce }) => call('fate', () => fateOf(chain, txid, nonce ?? 0)),
  };
  const graces = { claimSeconds: 0, refundSeconds: 0 };
  const relays = { cap: plenty, perAccount: 1_000, tokenAccounts: 0 };
  return { account, dailyCap: plenty, lowBalance: 0n, graces, relays };
}

const coinOf = (nonce: number) => `gas-${nonce}`;

function minedOf(chain: SimChain): number {
  return [...chain.about.values()].flat().filter(({ tx }) => tx.by === address).length;
}

function signed(
  chain: SimChain,
  work: GasWork,
  nonce: number,
  above: bigint | null,
): GasTransaction {
  const escrow = work.verb === 'void' ? 'nobody' : planOf(chain, work.terms).address;
  const verb = work.verb === 'void' ? 'move' : work.verb;
  const secret = work.verb === 'claim' ? work.secret : null;
  const fee = above === null ? cost : Number(above) + 1;
  const about = { chain: chain.chain, escrow, by: address, coins: [coinOf(nonce)], fee };
  const raw = rawOf({ ...about, verb, amount: '0', secret });
  const touches = verb === 'move' ? [] : [{ escrow, verb, secret }];
  const cap = { offer: BigInt(fee), mostCost: BigInt(fee), diesAt: null };
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
