// Wallets of Solana, by wallet-standard. The cluster is named with each prompt; that a transaction
// is of it, its blockhash says.

import { accountAddress, mustBeSigned, type ProofPlace } from '@parley/sdk/wallets/proofs.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { base58 } from '@scure/base';
import type { Wallet as StandardWallet, WalletAccount } from '@wallet-standard/base';
import {
  asked,
  connects,
  failed,
  fieldOf,
  type Gone,
  gone,
  lied,
  machineMs,
  personMs,
  signsMessages,
  signsTransactions,
} from './asked.ts';
import type { AccountLink, FoundWallet, Place, SdkWallet, SolanaPlace } from './types.ts';

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
  const left = gone();
  watch(wallet, address, left);
  const link: Linked = { wallet, account, found, address, left, proof: place };
  const signer = {
    family: 'solana' as const,
    address,
    signMessage: (message: string) => signMessage(link, message),
  };
  return {
    family: 'solana',
    found,
    signer,
    onGone: left.onGone,
    on: <P extends Place>(at: P, asks: Parameters<AccountLink['on']>[1]) => {
      if (at.family !== 'solana')
        throw new Error(`${name} has accounts of solana, not ${at.family}`);
      const { chain, rpcUrls } = at;
      const signTransaction = (bytes: Uint8Array, signal: AbortSignal) =>
        signBytes(link, at, bytes, asks.withinMs, signal);
      const own = { address, asks, signMessage: signer.signMessage, signTransaction };
      return solanaWallet({ chain, rpcUrls, account: own }) as unknown as SdkWallet<P>;
    },
  };
}

type Linked = {
  readonly wallet: StandardWallet;
  readonly account: WalletAccount;
  readonly found: FoundWallet;
  readonly address: string;
  readonly left: Gone;
  readonly proof: ProofPlace;
};

function accountsOf(wallet: StandardWallet): readonly unknown[] {
  const accounts = fieldOf(wallet, 'accounts');
  return Array.isArray(accounts) ? accounts : [];
}

function watch(wallet: StandardWallet, address: string, left: Gone): void {
  const look = () => {
    const isHere = accountsOf(wallet).some((each) => fieldOf(each, 'address') === address);
    if (!isHere) left.leave();
  };
  try {
    featureOf(wallet, 'standard:events', 'on')('change', look);
  } catch {
    // Without events it is looked for before each prompt.
  }
}

function mustBeHere({ wallet, address, found, left }: Linked): void {
  const isHere = accountsOf(wallet).some((each) => fieldOf(each, 'address') === address);
  if (!isHere) left.leave();
  left.mustBeHere(found.name, address);
}

async function signMessage(link: Linked, message: string): Promise<string> {
  const { wallet, account, found, address, proof } = link;
  mustBeHere(link);
  const bytes = new TextEncoder().encode(message);
  const sign = featureOf(wallet, signsMessages, 'signMessage');
  const answer = await asked(found.name, () => sign({ account, message: bytes }), personMs);
  const signature = fieldOf(fieldOf(answer, '0'), 'signature');
  if (!(signature instanceof Uint8Array)) throw lied(found.name, 'has answered no signature');
  return mustBeSigned({ family: 'solana', address }, message, base58.encode(signature), proof);
}

async function signBytes(
  link: Linked,
  { genesisHash }: SolanaPlace,
  transaction: Uint8Array,
  withinMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  const { wallet, account, found } = link;
  mustBeHere(link);
  const chain = clusters[genesisHash] ?? 'solana:localnet';
  const chains = fieldOf(account, 'chains') ?? fieldOf(wallet, 'chains');
  if (!Array.isArray(chains) || !chains.includes(chain)) {
    const has = Array.isArray(chains) ? chains.slice(0, 4).join(', ') : 'none';
    throw failed('wrong_network', `${found.name} is on ${has}, and this swap is on ${chain}`);
  }
  const sign = featureOf(wallet, signsTransactions, 'signTransaction');
  const ask = () => sign({ account, transaction, chain });
  const answer = await asked(found.name, ask, Math.max(withinMs, machineMs), signal);
  return fieldOf(fieldOf(answer, '0'), 'signedTransaction');
}
