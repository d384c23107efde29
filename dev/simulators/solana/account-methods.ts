// RPC calls about accounts.

import type { Address } from '@solana/kit';
import { accountJson } from './account-json.ts';
import { amountJson, holdingOf, mintOf, TOKEN, TOKEN_2022 } from './accounts.ts';
import { accountAt, type Commitment, type Ledger, ownedAt } from './ledger.ts';
import {
  addressAt,
  bankOf,
  type Config,
  commitmentOf,
  configAt,
  inContext,
  listAt,
  wholeAt,
} from './params.ts';
import { invalidParams } from './rpc-error.ts';

export type Method = (ledger: Ledger, params: readonly unknown[]) => unknown;

const mostAccounts = 100;
const mostLargest = 20;

function shown(ledger: Ledger, of: Address, config: Config): object | null {
  const at = commitmentOf(config);
  return accountJson(accountAt(ledger, of, at), config, (mint) => decimalsOf(ledger, mint, at));
}

function decimalsOf(ledger: Ledger, mint: Address, at: Commitment): number {
  return mintOf(accountAt(ledger, mint, at))?.decimals ?? 0;
}

function tokenAccounts(ledger: Ledger, params: readonly unknown[]): unknown {
  const owner = addressAt(params, 0);
  const mint = addressAt([configAt(params, 1).mint], 0);
  const config = configAt(params, 2);
  const at = commitmentOf(config);
  const found = [TOKEN, TOKEN_2022].flatMap((program) =>
    ownedAt(ledger, program, at).flatMap(([pubkey, each]) => {
      const holding = holdingOf(each);
      const isWanted = holding?.owner === owner && holding.mint === mint;
      return isWanted ? [{ pubkey, account: shown(ledger, pubkey, config) }] : [];
    }),
  );
  return inContext(bankOf(ledger, config), found);
}

function largestAccounts(ledger: Ledger, params: readonly unknown[]): unknown {
  const of = addressAt(params, 0);
  const config = configAt(params, 1);
  const at = commitmentOf(config);
  const account = accountAt(ledger, of, at);
  const mint = mintOf(account);
  if (account === null || mint === null) throw invalidParams('could not find mint');
  const holdings = ownedAt(ledger, account.owner, at)
    .flatMap(([address, each]) => {
      const holding = holdingOf(each);
      return holding?.mint === of ? [{ address, held: holding.amount }] : [];
    })
    .sort((one, other) => (one.held < other.held ? 1 : one.held > other.held ? -1 : 0));
  const largest = holdings
    .slice(0, mostLargest)
    .map(({ address, held }) => ({ address, ...amountJson(held, mint.decimals) }));
  return inContext(bankOf(ledger, config), largest);
}

export const accountMethods: Readonly<Record<string, Method>> = {
  getBalance: (ledger, params) => {
    const config = configAt(params, 1);
    const account = accountAt(ledger, addressAt(params, 0), commitmentOf(config));
    return inContext(bankOf(ledger, config), account?.lamports ?? 0n);
  },
  getAccountInfo: (ledger, params) => {
    const config = configAt(params, 1);
    return inContext(bankOf(ledger, config), shown(ledger, addressAt(params, 0), config));
  },
  getMultipleAccounts: (ledger, params) => {
    const config = configAt(params, 1);
    const list = listAt(params, 0, mostAccounts);
    const accounts = list.map((_, at) => shown(ledger, addressAt(list, at), config));
    return inContext(bankOf(ledger, config), accounts);
  },
  getTokenAccountsByOwner: tokenAccounts,
  getTokenLargestAccounts: largestAccounts,
  getMinimumBalanceForRentExemption: (ledger, params) =>
    ledger.svm.minimumBalanceForRentExemption(wholeAt(params, 0)),
};
