// The cost of a transaction of ours for its sender. A claim is never estimated: a node would hear
// its secret.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { measuredGas } from '@parley/contracts/escrows/artifacts/gas.ts';
import { larger } from '@parley/core/amounts.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Cost, Costs, Owed, Spend } from '../interface/gas.ts';
import { owedWords, shortages } from '../kit/shortage.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { gathering } from '../nodes/gathering.ts';
import { RpcError } from '../nodes/rpc.ts';
import { l1FeeOf } from './gas-fees.ts';
import {
  evmGasPolicyOf,
  type Fork,
  forkUntil,
  gasOnChain,
  evmTransactionGas as mostGas,
  untriedGas,
} from './gas-policy.ts';
import { callOf, estimate, isUnlent, unseenClaim } from './gas-work.ts';
import { balanceAt, codeAt, gasPrice, refused } from './node.ts';
import { evmEscrow } from './plan.ts';
import { readRevert } from './simulate.ts';
import { mustBeOpen } from './state.ts';
import type { Watch } from './watch.ts';

/** The cost of the bytes on Ethereum comes on top of the gas: room for twice the gas in peaks. */
const opStackTimes = 3n;
/** Wallets ask for more gas than is used, and offer more for it than it costs now. */
export const margin = 2n;
/** The offer of a wallet above the price of now where it is not signed: a fifth. Rounds up. */
const offeredAt = (price: bigint) => (price * 6n + 4n) / 5n;

type Token = Pick<EscrowTerms, 'token'>;

const kindOf = ({ token }: Token) => (token === null ? 'native' : 'token');

/** With `margin` and a fifth above the price, a claim can pay for its limit by `untriedGas`. */
export function gasFor(chainId: number, terms: Token, verb: 'claim' | 'fund', fork: Fork): bigint {
  const kind = kindOf(terms);
  const gas =
    verb === 'claim'
      ? (untriedGas(chainId, kind, fork) * 6n + 9n) / (5n * margin)
      : gasOnChain(chainId, fundGas(kind, fork));
  return evmGasPolicyOf(chainId).l1FeeOracle === null ? gas : gas * opStackTimes;
}

// With a lane's first use, an approval and the contract's first balance. A quarter more, rounded
// up.
function fundGas(kind: 'native' | 'token', fork: Fork): bigint {
  const { native, token, approve, newWord } = measuredGas[fork];
  const gas = kind === 'native' ? native.fund + newWord : token.fund + approve + 2n * newWord;
  return (gas * 5n + 3n) / 4n;
}

export const shortage = shortages<Watch>({
  unit: 'wei',
  code: 'fee_poor',
  together: (watch, signal) => ({ ...watch, rpc: gathering(watch.rpc, signal) }),
  owed: async (watch, owed, payer, signal) => {
    const { offered } = owed;
    const { has, price, needAt } = await fundsOf(watch, owed, payer, signal);
    const usual = needAt(margin * price);
    const need =
      offered === undefined
        ? usual
        : larger(usual, offered.gas * (offered.feePerGas ?? offeredAt(price)));
    const gas = offered === undefined ? 'for' : `with ${offered.gas}`;
    const what = `${owedWords(owed, 'send a claim')} ${gas} gas`;
    return { need, has, what };
  },
  funding: async (watch, terms, signal) => {
    const owed = { claims: [], fundings: [terms] };
    const { has, price, needAt } = await fundsOf(watch, owed, terms.refund.address, signal);
    return { need: needAt(price), has, what: 'fund, gas and a native leg included,' };
  },
  // A contract sends nothing by itself: the wallet that pays for one is not known here.
  pays: async ({ rpc }, address, signal) => (await codeAt(rpc, address, 'latest', signal)) === '0x',
});

async function fundsOf(watch: Watch, owed: Owed, payer: string, signal: AbortSignal) {
  const { rpc } = watch;
  const [price, needAt, has] = await Promise.all([
    gasPrice(rpc, signal),
    needOf(watch, owed, signal),
    balanceAt(rpc, null, payer, 'latest', signal),
  ]);
  return { price, needAt, has };
}

/** At a price; a fork may come before the last of them is sent. */
async function needOf(
  { rpc, chainId }: Watch,
  { claims, fundings }: Owed,
  signal: AbortSignal,
): Promise<(price: bigint) => bigint> {
  const until = Math.max(...[...claims, ...fundings].map(({ timelock }) => timelock));
  const fork = await forkUntil(rpc, chainId, until, signal);
  const gas = [
    ...claims.map((terms) => gasFor(chainId, terms, 'claim', fork)),
    ...fundings.map((terms) => gasFor(chainId, terms, 'fund', fork)),
  ].reduce((sum, each) => sum + each, 0n);
  const funded = fundings.reduce((sum, terms) => sum + nativeOf(terms), 0n);
  return (price) => gas * price + funded;
}

export async function untriedSpend(
  { rpc, chainId }: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<bigint> {
  const fork = await forkUntil(rpc, chainId, terms.timelock, signal);
  return untriedGas(chainId, kindOf(terms), fork);
}

const nativeOf = ({ token, amount }: EscrowTerms): bigint => (token === null ? amount : 0n);

/** The contract's own errors. It passes on no words of a token or a receiver. */
const ownErrors: ReadonlySet<string> = new Set(
  escrowsAbi.flatMap((each) => (each.type === 'error' ? [each.name] : [])),
);

export async function spendGas(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  spend: Spend,
  payer: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { rpc } = watch;
  const { call, overrides } = await triedOf(watch, spend, payer, signal);
  try {
    const trial = { rpc, from: payer, mostGas, offer: null };
    const gas = await estimate(trial, call, overrides, signal);
    if (gas <= mostGas) return gas;
    // Every other node would refuse a transaction with so much.
    throw new RpcError(0, `it estimates ${gas} gas, above the ${mostGas} of a transaction`, null);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (overrides !== null && isUnlent(error)) throw refused(rpc, 'eth_estimateGas', unlent);
    const { name, words } = readRevert(error.data, error.message);
    // A claim that would fail says so by one of these. Every other answer of a node is about
    // itself.
    if (name === null || !ownErrors.has(name)) throw refused(rpc, 'eth_estimateGas', error);
    const { terms, verb } = spend;
    const to = verb === 'claim' ? terms.payout : terms.refund;
    throw wouldFail(terms, 'wei', 'payout', to.address, words);
  }
}

async function triedOf(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  spend: Spend,
  payer: string,
  signal: AbortSignal,
) {
  const { rpc, deployment } = watch;
  if (spend.verb === 'refund') return { call: callOf(spend, payer, deployment), overrides: null };
  const { terms, secret } = spend;
  if (secret !== null) {
    const call = callOf({ ...spend, secret, isPublic: true }, payer, deployment);
    return { call, overrides: null };
  }
  // It is tried as open, with the money of others: so the true one must be.
  await mustBeOpen(rpc, deployment, terms, evmEscrow(terms, deployment).address, signal);
  return unseenClaim(deployment, terms);
}

const unlent = new RpcError(0, 'it lends no state', null);

/** The bytes of the longest call: a funding with its fourteen words. */
const callBytes = 452;
const longestCall = `0x${'ff'.repeat(callBytes)}`;
/** A fork that is announced counts already. */
const anyTime = Number.POSITIVE_INFINITY;
const claimGas = 50_000n;

/** The least that is more than its claim costs. */
export const leastWei = (gasPrice: bigint): bigint => claimGas * gasPrice + 1n;

export async function costs(
  watch: Watch,
  token: string | null,
  signal: AbortSignal,
): Promise<Costs> {
  const { chainId } = watch;
  const rpc = gathering(watch.rpc, signal);
  const [price, fork, l1Fee] = await Promise.all([
    gasPrice(rpc, signal),
    forkUntil(rpc, chainId, anyTime, signal),
    l1FeeOf(rpc, evmGasPolicyOf(chainId), longestCall, signal),
  ]);
  const { native, token: erc20, approve, newWord } = measuredGas[fork];
  const [funding, settling] =
    token === null
      ? [native.fund + newWord, native.settle]
      : [erc20.fund + approve + newWord, erc20.settle];
  const cost = (gas: bigint, verb: 'fund' | 'claim'): Cost => {
    const usual = gasOnChain(chainId, gas) * price + l1Fee;
    const wanted = gasFor(chainId, { token }, verb, fork) * price;
    return { usual, most: larger(usual, verb === 'claim' ? margin * wanted : wanted) };
  };
  const settle = cost(settling, 'claim');
  return {
    fund: cost(funding, 'fund'),
    claim: settle,
    refund: settle,
    settlesFromAmount: false,
    deposit: null,
    leastAmount: token === null ? leastWei(price) : 1n,
  };
}
