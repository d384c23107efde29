// Words of the engine for screens: keys, nodes, swaps and their health. It neither draws nor translates.
// Sentences are of the SDK, in English, with the numbers in them; screens say the same in their
// words by `kind`.

import type { Deadlines } from '@parley/core/deadlines.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import type { ChainKey, Family } from '@parley/core/families.ts';
import type { BaseUnits, Millis, UnixSeconds } from '@parley/core/nominal.ts';
import type { LegName, Party, Role } from '@parley/core/trade.ts';
import { CodedError } from '@parley/sdk/errors.ts';
import type { Doubt } from '@parley/sdk/evidence/judge.ts';
import type { Outcome, ProgressStep, SettleState } from '@parley/sdk/settle.ts';
import type { OwnTrade, PinnedAsset } from '@parley/sdk/trade.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { BitcoinPayment } from '../wallets/types.ts';

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
  /** Bitcoin that pays: signed claims are left with the market. Default true. */
  readonly leavesClaims?: boolean;
  /** Bitcoin that is given: `p2wsh` asks for no escrow of Taproot, which some wallets cannot pay. */
  readonly form?: 'p2tr' | 'p2wsh';
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

/** Where a person keeps the phrase: each was read back from there (decision 0117). */
export type Keeper = 'words' | 'manager' | 'file';

export type VaultState =
  | { readonly kind: 'none' }
  /** Made, and not read back yet: no acceptance is possible. */
  | { readonly kind: 'unchecked'; readonly madeAt: UnixSeconds }
  | {
      readonly kind: 'checked';
      readonly madeAt: UnixSeconds;
      readonly checkedAt: UnixSeconds;
      readonly keptIn: Keeper;
    };

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

// Swaps

export type Verb = 'fund' | 'claim' | 'refund' | 'release';

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
  /** A person gives it up, and that is kept. */
  readonly isGivenUp: boolean;
  /** Bitcoin: the person was told to pay the escrow, and may have done so at any time. */
  readonly isByHand: boolean;
  /** Bitcoin: the market keeps signed refunds of what is final. */
  readonly isRefundLeft: boolean;
  /** Bitcoin: the market keeps signed claims, which it sends once the secret is public. */
  readonly isClaimLeft: boolean;
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
  /** Bitcoin by Taproot. */
  readonly form?: 'p2tr';
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

export type RescueFileState = {
  /** The content of the newest file. */
  readonly swaps: number;
  readonly writtenAt: UnixSeconds | null;
  /** Which of the newest content a person has saved. */
  readonly isSaved: boolean;
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
