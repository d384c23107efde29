// The engine as screens know it: the phrase, nodes, and swaps that settle themselves in the page.
// `pageEngine()` (page.ts) opens the one of a page; the engine neither draws nor translates.
// Sentences are of the SDK, in English, with the numbers in them; screens say the same in their
// words by `kind`.

import type { Deadlines } from '@parley/core/deadlines.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import type { ChainKey, Family, Network } from '@parley/core/families.ts';
import type { BaseUnits, Millis, UnixSeconds } from '@parley/core/nominal.ts';
import type { LegName, Party, Role } from '@parley/core/trade.ts';
import { CodedError } from '@parley/sdk/errors.ts';
import type { Doubt } from '@parley/sdk/evidence/judge.ts';
import type { GasLook, GasSide } from '@parley/sdk/gas.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { RescueFile, RescueSwap } from '@parley/sdk/rescue/file.ts';
import type { PhraseCheck } from '@parley/sdk/rescue/phrase.ts';
import type { RawSpend } from '@parley/sdk/rescue/raw.ts';
import type { Restored } from '@parley/sdk/rescue/restore.ts';
import type { EscrowPayment, Outcome, ProgressStep, SettleState } from '@parley/sdk/settle.ts';
import type { OwnTrade, PinnedAsset } from '@parley/sdk/trade.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { Live } from '../live.ts';
import type { AccountLink, BitcoinPayment } from '../wallets/types.ts';

export type Engine = {
  readonly network: Network;
  /** The own clock, Unix seconds. A dev network's where the market has moved it. */
  now(): UnixSeconds;
  readonly vault: Vault;
  readonly nodes: Nodes;
  readonly swaps: Swaps;
  readonly health: Live<Health>;
  /**
   * The phrase's key of all escrows on Bitcoin. The market pays only keys that the account has
   * linked: for `linkWallet` of the SDK, with the login wallet, or an account's payout. Throws
   * EngineError `no_phrase`, `unknown_chain`.
   */
  bitcoinSigner(): Promise<MessageSigner & { readonly pubkey: string }>;
  /** A wallet that the person has connected (`packages/web/wallets`): it signs for swaps of its account. */
  use(link: AccountLink): void;
  /** The meaning of an acceptance, and the browser's checks. Tells the market nothing. */
  examine(deal: Deal): Promise<Examined>;
  /**
   * The own wallet's amount of a chain's coin, and the amount that its side may take; null: it
   * needs none. Errors of a node pass through.
   */
  gas(chain: ChainKey, side: GasSide): Promise<GasLook | null>;
  /**
   * Accepts, and cannot be taken back. Throws EngineError `no_phrase`, `phrase_unchecked`,
   * `no_payout`, `failed_check`, and what `accept` of the SDK throws. The swap is driven from then
   * on: `swapId` is null until the other side accepts too.
   */
  accept(deal: Deal): Promise<{ readonly swapId: string | null }>;
  readonly rescue: Rescue;
  readonly byWallet: ByWallet;
};

/** The agreement that a person accepts: exactly as it was displayed. */
export type Deal = {
  readonly party: Party;
  readonly rfq: Pick<Rfq, 'id' | 'direction' | 'baseAmount'>;
  readonly threadId: string;
  readonly quoteAmount: BaseUnits;
  /** When that price ends, Unix seconds; null: it has no end of its own. */
  readonly priceEndsAt?: UnixSeconds | null;
  readonly base: PinnedAsset;
  readonly quote: PinnedAsset;
  /**
   * The own address on each of both chains. On Bitcoin: where claim and refund are paid, any
   * address of the network but one of the phrase.
   */
  readonly addresses: Readonly<Record<ChainKey, string>>;
};

export type CheckName =
  | 'terms'
  | 'rules'
  | 'timelocks'
  | 'phrase'
  | 'store'
  | 'room'
  | 'clock'
  | 'nodes'
  | 'addresses'
  | 'agreed'
  | 'escrows';

/** `sentence`: the two things that were compared, or why it failed. */
export type Check = {
  readonly name: CheckName;
  readonly ok: boolean;
  readonly sentence: string;
  /** The fault that `accept` would throw for it, where a screen can do something. */
  readonly code?: EngineFault;
};

export type Examined = {
  readonly checks: readonly Check[];
  readonly isGood: boolean;
  /** null where a check before has failed. */
  readonly role: Role | null;
  readonly gives: LegName | null;
  /** As if it was agreed now. */
  readonly deadlines: Deadlines | null;
};

// Keys

export type VaultState =
  | { readonly kind: 'none' }
  /** Made, and not typed back yet: no acceptance is possible. */
  | { readonly kind: 'unchecked'; readonly madeAt: UnixSeconds }
  | { readonly kind: 'checked'; readonly madeAt: UnixSeconds; readonly checkedAt: UnixSeconds };

/** Words leave it by `words` alone; they are never in an error. */
export type Vault = {
  readonly state: Live<VaultState>;
  /** Throws EngineError `has_phrase` where there is one. */
  make(): Promise<void>;
  /** For the screen that shows them, and no longer than it. Throws `no_phrase`. */
  words(): Promise<readonly string[]>;
  /** Three places to be typed back, counted from 1, in ascending order; drawn anew each time. */
  asked(): readonly number[];
  /** By place. `wrong`: the places that do not fit; an empty list makes the vault `checked`. */
  check(typed: Readonly<Record<number, string>>): Promise<{ readonly wrong: readonly number[] }>;
  /** Words of another device: `checked` at once. Throws `has_phrase` where there is another one. */
  restore(typed: string): Promise<PhraseCheck>;
  /**
   * Throws `swaps_open` while a swap runs, unless a rescue file with it was saved and
   * `evenWithOpenSwaps`.
   */
  forget(how?: { readonly evenWithOpenSwaps: boolean }): Promise<void>;
};

// Nodes

export type ChainFacts = {
  readonly chain: ChainKey;
  readonly family: Family;
  /** As the app's own tables know it, such as `Ethereum (chain id 1)`; never a market's word. */
  readonly title: string;
  /** Whether the tables know it. Others are refused but on dev networks. */
  readonly isKnown: boolean;
  readonly nodes: readonly string[];
  /** Whether a person named them. */
  readonly isOwn: boolean;
};

export type NodeCheck = { readonly url: string } & (
  | { readonly ok: true; readonly height: number }
  | { readonly ok: false; readonly sentence: string }
);

export type Nodes = {
  readonly chains: Live<readonly ChainFacts[]>;
  /** Asks who it is, how high, and how late its last block is. */
  check(chain: ChainKey, url: string): Promise<NodeCheck>;
  /** Keeps own ones, each checked first; an empty list brings the market's back. Throws nothing. */
  keep(chain: ChainKey, urls: readonly string[]): Promise<readonly NodeCheck[]>;
};

// Swaps

export type Swaps = {
  /** Open and ended ones of this browser, the next deadline first, ended ones last. */
  readonly all: Live<readonly SwapView[]>;
  one(swapId: string): SwapView | null;
  /**
   * Which tab settles. `isSilent`: it has the turn and does not answer. Claims of a public secret
   * and refunds are made all the same, by a tab that answers; the rest waits until it is closed.
   */
  readonly driver: Live<
    { readonly kind: 'this' } | { readonly kind: 'other'; readonly isSilent: boolean }
  >;
  /** Asks the other tab to let this one go on. False where it is waiting for a wallet there. */
  takeOver(): Promise<boolean>;
  /** Looks for what was accepted or restored, in whichever tab settles. Resolves once it has. */
  look(): Promise<void>;
  /** Goes on with what was stopped. */
  again(swapId: string): void;
  /** The person wants its wallet to be asked for this now, in the tab that settles. */
  sign(swapId: string, verb: Verb): void;
  /** Bitcoin: where it is paid from now on. Throws `bad_address`, `wrong_network`. */
  payTo(swapId: string, address: string): Promise<void>;
  /** Bitcoin: every payment to the escrow of the own leg, by the own nodes. Empty elsewhere. */
  payments(swapId: string): Promise<readonly EscrowPayment[]>;
  /**
   * Bitcoin, paid too much or twice: the person says that so many sats beyond the amount may be
   * lost (`givesExtra` of settle). Until then the secret is not shown (problem `paid_too_much`).
   */
  giveExtra(swapId: string, extra: BaseUnits): void;
  /** A claim or refund as text, to be sent elsewhere. Throws RescueError `not_as_text`. */
  raw(swapId: string, verb: 'claim' | 'refund'): Promise<RawSpend>;
};

export type Verb = 'fund' | 'claim' | 'refund';

export type Phase =
  /** Kept, and not begun yet in this page. */
  | 'starting'
  | 'running'
  /** The swap waits for this person: see `asks` or `problems`, then `again`. */
  | 'stopped'
  | 'ended';

export type SwapView = {
  readonly id: string;
  readonly phase: Phase;
  readonly state: SettleState;
  readonly trade: OwnTrade;
  readonly party: Party;
  readonly role: Role;
  /** The leg that this side funds; the other one pays it. */
  readonly gives: LegName;
  readonly legs: Readonly<Record<LegName, LegView>>;
  readonly agreedAt: UnixSeconds;
  readonly deadlines: Deadlines;
  /** The requests to the person now, the most urgent first. */
  readonly asks: readonly Ask[];
  readonly checks: readonly Check[];
  readonly problems: readonly Problem[];
  /** The newest last; at most 200. */
  readonly history: readonly Happened[];
  readonly end: Outcome | null;
  /** Brought back by phrase or rescue file: claimed and refunded, never funded. */
  readonly isRestored: boolean;
  /** Bitcoin: the person was told to pay the escrow, and may have done so at any time. */
  readonly isByHand: boolean;
  /** Bitcoin: the market keeps signed refunds of what is final. */
  readonly isRefundLeft: boolean;
  /** The market was asked to send the claim, since the wallet could not pay for it. */
  readonly relay: Relayed | null;
};

export type Relayed = {
  /** null: it has not taken it on yet. */
  readonly txid: string | null;
  /** In the market's words, with its numbers; null: it was not refused. */
  readonly refused: string | null;
};

export type LegView = {
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly family: Family;
  readonly asset: PinnedAsset;
  readonly amount: BaseUnits;
  readonly isLong: boolean;
  readonly timelock: UnixSeconds;
  readonly requiredConfirmations: number;
  /** null until both sides have named their addresses. */
  readonly escrow: string | null;
  /** As the person's own nodes show it; null before the first answer. */
  readonly facts: EscrowFacts | null;
  /** The faults in the answers of its nodes, by the last poll. Absent: a former build wrote it. */
  readonly doubts?: readonly Doubt[];
  /** They are enough to hold every step of this side. Absent: a former build wrote it. */
  readonly isHeldUp?: boolean;
  /** The chain's own clock when it was read, Unix seconds (Bitcoin: median time past). */
  readonly clock: UnixSeconds | null;
  /** Where it is paid to, or refunded to, for this side. */
  readonly ownAddress: string;
};

export type Ask =
  | {
      readonly kind: 'pay_by_hand';
      readonly leg: LegName;
      readonly address: string;
      readonly amount: BaseUnits;
      /** BIP-21. */
      readonly uri: string;
      readonly notAfter: UnixSeconds;
    }
  /** `address`: the account that it must be. */
  | {
      readonly kind: 'connect_wallet';
      readonly leg: LegName;
      readonly chain: ChainKey;
      readonly family: Family;
      readonly address: string;
    }
  /** A wallet is asked when the person says so: `sign` of Swaps. */
  | {
      readonly kind: 'sign';
      readonly leg: LegName;
      readonly chain: ChainKey;
      readonly family: Family;
      readonly verb: Verb;
    }
  /** A wallet shows its prompt now, or is about to. */
  | {
      readonly kind: 'confirm_in_wallet';
      readonly leg: LegName;
      readonly chain: ChainKey;
      readonly family: Family;
      readonly verb: Verb;
      readonly sinceMs: Millis;
    }
  /** It was not signed, and is asked again by `sign` alone. */
  | {
      readonly kind: 'declined';
      readonly leg: LegName;
      readonly family: Family;
      readonly verb: Verb;
    }
  | { readonly kind: 'need_phrase' }
  /** Bitcoin: where claim and refund are to be paid, by `payTo`. The swap waits for it. */
  | { readonly kind: 'name_payout'; readonly leg: LegName; readonly chain: ChainKey }
  /** One may be away until then. */
  | { readonly kind: 'wait'; readonly why: string; readonly until: UnixSeconds | null };

export type ProblemKind =
  | 'node'
  | 'market'
  | 'market_lied'
  | 'clock'
  | 'gas'
  | 'store'
  | 'settle'
  | 'terms';

export type Problem = {
  readonly kind: ProblemKind;
  readonly leg: LegName | null;
  /** The code of a SettleError and the like. */
  readonly code: string | null;
  readonly sentence: string;
};

export type Happened = {
  readonly at: UnixSeconds;
  readonly state: SettleState;
  readonly step: ProgressStep;
  readonly leg: LegName | null;
  readonly text: string;
  readonly txid: string | null;
};

// Bitcoin by a wallet of the browser

export type WalletPayment = {
  /** As it calls itself, made plain. */
  readonly wallet: string;
  /** Since when it is so. */
  readonly at: UnixSeconds;
  /** `asked`: no answer yet. `sent`: by the wallet's word. `failed`: it says so, with `why`. */
  readonly is: 'asked' | 'sent' | 'failed';
  readonly txid: string | null;
  readonly why: string | null;
};

/** `pay`: as of BitcoinLink. */
export type PayingWallet = {
  readonly name: string;
  pay(payment: BitcoinPayment): Promise<string>;
};

export type ByWallet = {
  /**
   * The payment that may still come from a wallet; null: no wallet was asked, or it declined, or
   * the person left it.
   */
  of(swapId: string): Promise<WalletPayment | null>;
  /**
   * Asks for exactly the amount of the swap, at its escrow; resolves when the wallet has answered
   * or failed. Throws EngineError `not_to_pay`, `asked_already`, and WalletError `declined`.
   */
  pay(swapId: string, wallet: PayingWallet): Promise<void>;
  /** The person says that the wallet has not paid, and does not. */
  leave(swapId: string): Promise<void>;
};

// Health of the page

export type Health = {
  /** `opening` until it is known. `ephemeral`: a private window; see StoreHealth of the SDK. */
  readonly store:
    | 'opening'
    | 'persisted'
    | 'unpromised'
    | 'ephemeral'
    | 'unsupported'
    | 'blocked'
    | 'newer'
    | 'gone'
    | 'full'
    | 'failed';
  readonly storeSentence: string | null;
  /** Own clock minus the market's, seconds, rounded; null: not known. */
  readonly clockOffSeconds: number | null;
};

// Rescue

export type RescueFileState = {
  /** The content of the newest file. */
  readonly swaps: number;
  readonly writtenAt: UnixSeconds | null;
  /** Which of the newest content a person has saved. */
  readonly isSaved: boolean;
};

export type Rescue = {
  /** Written anew when a swap is verified and when it is funded. */
  readonly file: Live<RescueFileState>;
  /** The newest; counts as saved. Throws `no_phrase`. */
  save(): Promise<string>;
  /**
   * The content of a file, to look at. Its chains are known to `nodes`, without a market, until
   * another one is opened. Throws RescueError.
   */
  open(text: string): Promise<RescueFile>;
  /** Throws RescueError. The swaps are driven from then on. */
  fromFile(text: string): Promise<readonly Restored[]>;
  /** `confirm`: whether a swap is what was agreed. */
  fromMarket(
    confirm: (swap: RescueSwap) => boolean | Promise<boolean>,
  ): Promise<{ readonly swaps: readonly Restored[]; readonly isWhole: boolean }>;
};

type EngineFault =
  | 'no_phrase'
  | 'phrase_unchecked'
  | 'has_phrase'
  | 'swaps_open'
  | 'no_payout'
  /** `bitcoinSigner` is to be linked first. */
  | 'key_unknown'
  | 'failed_check'
  | 'unknown_chain'
  | 'unknown_swap'
  /** Bitcoin by a wallet: no payment is due, or one was seen. */
  | 'not_to_pay'
  /** A wallet may still pay: it was asked, and has not said no. */
  | 'asked_already';

/** `sentence` has no word of a phrase. */
export class EngineError extends CodedError<EngineFault> {
  override name = 'EngineError';
}
