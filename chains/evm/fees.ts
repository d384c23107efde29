// What a transaction of ours costs whoever sends it, in the chain's own coin. A claim is never
// estimated: its secret would be told to the node before it is sent.

import { larger } from '../../core/amounts.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Owed, Warning } from '../adapter.ts';
import { begun, gathering } from '../gathering.ts';
import { owedWords } from '../owed.ts';
import { escrowGas, evmGasPolicyOf, gasOnChain, untriedGas } from './gas-policy.ts';
import { balanceAt, codeAt, gasPrice } from './node.ts';
import type { Watch } from './watch.ts';

/**
 * With a lane's first use; of a token with the approval that it wants and the contract's first
 * balance of it. These are the larger figures of two forks, since which of them a chain runs is not
 * asked, and a quarter more.
 */
const fundGas = {
  native: ((escrowGas.native.fund + escrowGas.newWord) * 5n) / 4n,
  token: ((escrowGas.token.fund + escrowGas.approve + 2n * escrowGas.newWord) * 5n) / 4n,
} as const;
/** What the bytes cost on Ethereum comes on top of the gas: room for twice the gas in peaks. */
const opStackTimes = 3n;
/** Wallets ask for more gas than is used, and offer more for it than it costs now. */
export const margin = 2n;
/** What a wallet offers above the price of now where it is not signed: a fifth. Rounds up. */
const offeredAt = (price: bigint) => (price * 6n + 4n) / 5n;

const kindOf = ({ token }: EscrowTerms) => (token === null ? 'native' : 'token');

/**
 * Gas of a claim or a funding, without `margin`. With it and at a fifth above the price, a claim
 * can pay for the limit that it gets where no node could try it (untriedGas). On Ethereum 172 200
 * and 196 800 for a claim, 173 750 and 492 500 for a funding.
 */
export function gasFor(chainId: number, terms: EscrowTerms, verb: 'claim' | 'fund'): bigint {
  const kind = kindOf(terms);
  const gas =
    verb === 'claim'
      ? (untriedGas(chainId, kind) * 6n + 9n) / (5n * margin)
      : gasOnChain(chainId, fundGas[kind]);
  return evmGasPolicyOf(chainId).l1FeeOracle === null ? gas : gas * opStackTimes;
}

/** See ChainAdapter. */
export async function claimShortage(
  watch: Watch,
  terms: EscrowTerms,
  payer: string,
  signal: AbortSignal,
): Promise<Warning | null> {
  return purseShortage(watch, { claims: [terms], fundings: [] }, payer, signal);
}

/** See ChainAdapter. */
export async function purseShortage(
  watch: Watch,
  owed: Owed,
  payer: string,
  signal: AbortSignal,
): Promise<Warning | null> {
  const { offered } = owed;
  const rpc = gathering(watch.rpc, signal);
  const has = begun(balanceAt(rpc, null, payer, 'latest', signal));
  const price = await gasPrice(rpc, signal);
  const usual = needOf(watch.chainId, owed, margin * price);
  const need =
    offered === undefined
      ? usual
      : larger(usual, offered.gas * (offered.feePerGas ?? offeredAt(price)));
  const gas = offered === undefined ? 'for' : `with ${offered.gas}`;
  const what = `${owedWords(owed, 'send a claim')} ${gas}`;
  return shortOf(watch, payer, { verb: 'claim', what, need, has: await has });
}

function needOf(chainId: number, { claims, fundings }: Owed, price: bigint): bigint {
  let need = 0n;
  for (const terms of claims) need += gasFor(chainId, terms, 'claim') * price;
  for (const terms of fundings) need += gasFor(chainId, terms, 'fund') * price + nativeOf(terms);
  return need;
}

const nativeOf = ({ token, amount }: EscrowTerms): bigint => (token === null ? amount : 0n);

/**
 * Whether both parties of a leg can pay for what they have to send. A contract sends nothing by
 * itself: whose wallet pays for one is not known here.
 */
export async function warningsOf(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<readonly Warning[]> {
  const { payout, refund } = terms;
  const price = await gasPrice(watch.rpc, signal);
  const need = gasFor(watch.chainId, terms, 'fund') * price + nativeOf(terms);
  const found: (Warning | null)[] = [];
  if (await isPlain(watch, payout.address, signal)) {
    found.push(await claimShortage(watch, terms, payout.address, signal));
  }
  if (await isPlain(watch, refund.address, signal)) {
    const has = await balanceAt(watch.rpc, null, refund.address, 'latest', signal);
    found.push(shortOf(watch, refund.address, { verb: 'fund', what: 'fund', need, has }));
  }
  return found.filter((each) => each !== null);
}

async function isPlain({ rpc }: Watch, address: string, signal: AbortSignal): Promise<boolean> {
  return (await codeAt(rpc, address, 'latest', signal)) === '0x';
}

/** What somebody sends, wei that it needs for it, and has. */
type Sending = {
  readonly verb: Warning['verb'];
  readonly what: string;
  readonly need: bigint;
  readonly has: bigint;
};

function shortOf(
  { chain }: Pick<Watch, 'chain'>,
  address: string,
  { verb, what, need, has }: Sending,
): Warning | null {
  if (has >= need) return null;
  const part = verb === 'claim' ? ' gas' : ', gas and a native leg included,';
  const other = verb === 'claim' ? '; anybody else may send the claim' : '';
  const sentence = `${address} has ${has} wei on ${chain}, and to ${what}${part} may take ${need}${other}`;
  return { code: 'fee_poor', verb, address, sentence };
}
