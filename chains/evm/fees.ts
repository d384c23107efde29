// What a transaction of ours costs whoever sends it, in the chain's own coin. A claim is never
// estimated: its secret would be told to the node before it is sent.

import { larger } from '../../core/amounts.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Owed, Warning } from '../adapter.ts';
import { owedWords } from '../owed.ts';
import { evmGasPolicyOf } from './gas-policy.ts';
import { balanceAt, codeAt, gasPrice } from './node.ts';
import type { Watch } from './watch.ts';

/**
 * Hundredths of the policy's most, above what was measured: a token may take more, or pay an
 * address that held none. With the margin it covers a claim that no node could try (untriedGas).
 */
const claimHundredths = { native: 10n, token: 20n } as const;
/** With the approvals of a token. */
const fundHundredths = { native: 14n, token: 40n } as const;
/** What the bytes cost on Ethereum comes on top of the gas: room for twice the gas in peaks. */
const opStackTimes = 3n;
/** Wallets ask for more gas than is used, and offer more for it than it costs now. */
export const margin = 2n;
/** What a wallet offers above the price of now where it is not signed: a fifth. Rounds up. */
const offeredAt = (price: bigint) => (price * 6n + 4n) / 5n;

const kindOf = ({ token }: EscrowTerms) => (token === null ? 'native' : 'token');

/** 50 000 and 100 000 for a claim on Ethereum, 70 000 and 200 000 for a funding. */
export function gasFor(chainId: number, terms: EscrowTerms, verb: 'claim' | 'fund'): bigint {
  const { mostGas, l1FeeOracle } = evmGasPolicyOf(chainId);
  const hundredths = verb === 'claim' ? claimHundredths : fundHundredths;
  const gas = (mostGas * hundredths[kindOf(terms)]) / 100n;
  return l1FeeOracle === null ? gas : gas * opStackTimes;
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
  const price = await gasPrice(watch.rpc, signal);
  const usual = needOf(watch.chainId, owed, margin * price);
  const need =
    offered === undefined
      ? usual
      : larger(usual, offered.gas * (offered.feePerGas ?? offeredAt(price)));
  const gas = offered === undefined ? 'for' : `with ${offered.gas}`;
  const what = `${owedWords(owed, 'send a claim')} ${gas}`;
  return shortOf(watch, payer, { verb: 'claim', what, need }, signal);
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
    const funding = { verb: 'fund', what: 'fund', need } as const;
    found.push(await shortOf(watch, refund.address, funding, signal));
  }
  return found.filter((each) => each !== null);
}

async function isPlain({ rpc }: Watch, address: string, signal: AbortSignal): Promise<boolean> {
  return (await codeAt(rpc, address, 'latest', signal)) === '0x';
}

async function shortOf(
  { rpc, chain }: Watch,
  address: string,
  sending: { readonly verb: Warning['verb']; readonly what: string; readonly need: bigint },
  signal: AbortSignal,
): Promise<Warning | null> {
  const { verb, what, need } = sending;
  const has = await balanceAt(rpc, null, address, 'latest', signal);
  if (has >= need) return null;
  const part = verb === 'claim' ? ' gas' : ', gas and a native leg included,';
  const other = verb === 'claim' ? '; anybody else may send the claim' : '';
  const sentence = `${address} has ${has} wei on ${chain}, and to ${what}${part} may take ${need}${other}`;
  return { code: 'fee_poor', verb, address, sentence };
}
