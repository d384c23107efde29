// Whom a payment by a wallet of a trader's own may go to: an address of the chain that can spend what
// it gets.

import { contractsOf } from '@parley/chains/escrows/plan.ts';
import { has } from '@parley/core/families.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import type { OwnWallet } from '../chains.ts';
import { needsYou } from '../failures.ts';
import { parseWallet } from './solana.ts';

type On = {
  readonly source: Pick<ChainSource, 'view'> & {
    readonly adapter: Pick<ChainSource['adapter'], 'parseAddress' | 'contract'>;
  };
  readonly wallet: Pick<OwnWallet, 'family' | 'address'>;
};

/**
 * In its one spelling. `tokens`: contracts of the chain that the trader knows. Throws where it is of
 * another family or network, or pays nobody.
 */
export function payeeOf(
  { source: { adapter, view }, wallet }: On,
  tokens: readonly string[],
  written: string,
): string {
  const to = adapter.parseAddress(written);
  if (has(wallet, 'ed25519')) parseWallet(to);
  const { chain } = view;
  // Swaps may have their escrows in each of these.
  const instances = has(view, 'lanes') ? contractsOf(view.deployment) : [];
  const contracts = [...tokens, ...instances, adapter.contract.address ?? ''];
  if (contracts.some((each) => each !== '' && adapter.parseAddress(each) === to)) {
    throw needsYou('bad_address', `${to} is a contract of ${chain}: it keeps what it gets`);
  }
  if (/^0x0{40}$/.test(to)) throw needsYou('bad_address', `${to} is nobody's address`);
  if (to !== wallet.address) return to;
  throw needsYou('own_address', `${to} is the wallet that pays: nothing would leave it`);
}
