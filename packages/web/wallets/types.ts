// Every wallet of a browser behind one interface. A wallet's word is unchecked until it has passed
// here: names, icons, addresses, networks, signatures and ids of transactions.

import type { Family, Having } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { Asks, EvmWallet, SolanaWallet, TronWallet } from '@parley/sdk/wallets/wallet.ts';

/** A wallet that is there. One program may be there once for each family. */
export type FoundWallet = {
  /** The same after a reload, so that a page may remember it. */
  readonly id: string;
  readonly family: Family;
  /** Plain text of at most 40 characters. */
  readonly name: string;
  /** A `data:` URL of an image for `<img src>`; null: absent, or unsafe. */
  readonly icon: string | null;
};

/** The chain that a wallet has to be on, by a node of one's own. */
export type AccountFamily = Exclude<Family, Having<'coins'>>;
type Places = { evm: EvmPlace; tron: TronPlace; solana: SolanaPlace };
export type Place = Places[AccountFamily];

export type EvmPlace = {
  readonly family: 'evm';
  readonly chain: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  /** For wallets that do not know it: they are told its name, coin and nodes. */
  readonly name: string;
  readonly coin: string;
};

export type TronPlace = {
  readonly family: 'tron';
  readonly chain: string;
  /** The last four bytes of block 0's id, as a number. */
  readonly chainId: number;
  readonly sources: readonly { readonly url: string; readonly solidityUrl?: string }[];
};

export type SolanaPlace = {
  readonly family: 'solana';
  readonly chain: string;
  readonly genesisHash: string;
  readonly rpcUrls: readonly string[];
};

type SdkWallets = {
  readonly evm: EvmWallet;
  readonly tron: TronWallet;
  readonly solana: SolanaWallet;
};

/** The wallet that `settle` takes, and it signs texts too. */
export type SdkWallet<P extends Place = Place> = SdkWallets[P['family']] & MessageSigner;

type Linked = {
  readonly found: FoundWallet;
  /** `signMessage`: for sign-in, `mintKey`, `linkWallet`. Throws WalletError. */
  readonly signer: MessageSigner;
  /** Called once when its account changes or it goes away: every later request is refused. */
  onGone(listener: () => void): () => void;
};

/** An account of a wallet program: its own coins are no keys of swaps. */
export type AccountLink = Linked & {
  readonly family: AccountFamily;
  /**
   * For `settle`. Before each prompt the wallet is put on that network, or refused with
   * WalletError `wrong_network`. Throws where the place is of another family.
   */
  on<P extends Place>(place: P, asks: Asks): SdkWallet<P>;
};

/** Bitcoin: signs texts and sends plain payments. Escrow keys are the page's own. */
export type BitcoinLink = Linked & {
  readonly family: 'bitcoin';
  /**
   * Shows a payment to the person, who sends it. Resolves to what the wallet says is its id: only
   * the chain says whether it came. Throws WalletError.
   */
  pay(payment: BitcoinPayment): Promise<string>;
};

export type BitcoinPayment = {
  readonly payTo: string;
  readonly amountSats: bigint;
  /** How long an answer is waited for: its id is worth more than a quick refusal. */
  readonly withinMs: Millis;
};

export type Link = AccountLink | BitcoinLink;

export type BrowserWallets = {
  /** Told at once what is there, and again whenever that changes. Returns how to stop. */
  listen(onChange: (found: readonly FoundWallet[]) => void): () => void;
  /**
   * Asks the person for an account; `wanted` is taken where it is among those that are shared.
   * Throws WalletError: `declined`, `silent`, `lied`, `failed`, and of Bitcoin `wrong_network`.
   */
  connect(id: string, wanted?: string): Promise<Link>;
};
