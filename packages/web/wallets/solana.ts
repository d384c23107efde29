// Wallets of Solana, by wallet-standard. The cluster is named with each prompt; that a transaction
// is of it, its blockhash says.

import { accountAddress, mustBeSigned, type ProofPlace } from '@parley/sdk/wallets/proofs.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { base58 } from '@scure/base';
import type { Wallet as StandardWallet, WalletAccount } from '@wallet-standard/base';
import {
  accountLink,
  asked,
  connects,
  failed,
  fieldOf,
  lied,
  machineMs,
  personMs,
  presenceOf,
  signsMessages,
  signsTransactions,
} from './asked.ts';
import type { AccountLink, FoundWallet } from './types.ts';

/** By genesis hash; every other cluster is a local one. */
const clusters: Readonly<Record<string, string>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': 'solana:mainnet',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: 'solana:devnet',
};

/** One of the functions of a feature. */
function featureOf(wallet: StandardWallet, feature: string, name: string) {
  const holder = fieldOf(fieldOf(wallet, 'features'), feature);
  const method = fieldOf(holder, name);
  return (...input: readonly unknown[]): unknown => {
    if (typeof method !== 'function') throw new Error(`it has no ${feature}`);
    return Reflect.apply(method, holder, input);
  };
}

export async function linkSolana(
  wallet: StandardWallet,
  found: FoundWallet,
  place: ProofPlace,
  wanted?: string,
): Promise<AccountLink> {
  const { name } = found;
  const answer = await asked(name, featureOf(wallet, connects, 'connect'), personMs);
  const said = fieldOf(answer, 'accounts') ?? fieldOf(wallet, 'accounts');
  const shared: readonly WalletAccount[] = Array.isArray(said) ? said : [];
  const account = shared.find((each) => fieldOf(each, 'address') === wanted) ?? shared[0];
  if (account === undefined) throw failed('declined', `${name} has shared no account`);
  const address = accountAddress('solana', fieldOf(account, 'address'), place);
  const isHere = () => accountsOf(wallet).some((each) => fieldOf(each, 'address') === address);
  const { onGone, watch, mustBeHere } = presenceOf(name, address, isHere);
  const events = fieldOf(fieldOf(wallet, 'features'), 'standard:events');
  watch(fieldOf(events, 'on'), events, 'change');
  const signMessage = async (message: string) => {
    await mustBeHere();
    const bytes = new TextEncoder().encode(message);
    const sign = featureOf(wallet, signsMessages, 'signMessage');
    const signed = await asked(name, () => sign({ account, message: bytes }), personMs);
    const signature = fieldOf(fieldOf(signed, '0'), 'signature');
    if (!(signature instanceof Uint8Array)) throw lied(name, 'has answered no signature');
    return mustBeSigned({ family: 'solana', address }, message, base58.encode(signature), place);
  };
  return accountLink('solana', found, {
    address,
    signMessage,
    onGone,
    on: ({ chain, rpcUrls, genesisHash }, asks) => {
      const signTransaction = async (transaction: Uint8Array, signal: AbortSignal) => {
        await mustBeHere();
        const cluster = clusterOf(wallet, account, name, genesisHash);
        const sign = featureOf(wallet, signsTransactions, 'signTransaction');
        const ask = () => sign({ account, transaction, chain: cluster });
        const answered = await asked(name, ask, Math.max(asks.withinMs, machineMs), signal);
        return fieldOf(fieldOf(answered, '0'), 'signedTransaction');
      };
      const own = { address, asks, signMessage, signTransaction };
      return solanaWallet({ chain, rpcUrls, account: own });
    },
  });
}

/** Throws `wrong_network` where the account is of another one. */
function clusterOf(
  wallet: StandardWallet,
  account: WalletAccount,
  name: string,
  genesisHash: string,
): string {
  const cluster = clusters[genesisHash] ?? 'solana:localnet';
  const chains = fieldOf(account, 'chains') ?? fieldOf(wallet, 'chains');
  if (Array.isArray(chains) && chains.includes(cluster)) return cluster;
  const has = Array.isArray(chains) ? chains.slice(0, 4).join(', ') : 'none';
  throw failed('wrong_network', `${name} is on ${has}, and this swap is on ${cluster}`);
}

function accountsOf(wallet: StandardWallet): readonly unknown[] {
  const accounts = fieldOf(wallet, 'accounts');
  return Array.isArray(accounts) ? accounts : [];
}
