// Tests only: swaps in every state, as the engine would show them, without a chain or a market.

import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Doubt } from '@parley/sdk/evidence/judge.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type {
  Ask,
  Health,
  LegView,
  Problem,
  SwapView,
  WalletPayment,
} from '../../../engine/types.ts';
import type { Seen, Situation } from '../situation.ts';

export const agreedAt = 1_795_000_000;
const hour = 3_600;
export const deadlines = {
  initiatorFundBy: agreedAt + hour,
  expiresAt: agreedAt + 2 * hour,
  counterpartyFundBy: agreedAt + 3 * hour,
  revealBy: agreedAt + 4 * hour,
  refundAt: { a: agreedAt + 8 * hour, b: agreedAt + 24 * hour },
};

export const listed = [
  { id: 'btc', symbol: 'BTC' },
  { id: 'usd', symbol: 'USDX' },
];

const btc = { id: 'btc', chain: 'bitcoin-regtest', token: null, decimals: 8, highValueFrom: null };
const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const usd = { id: 'usd', chain: 'evm-dev', token, decimals: 6, highValueFrom: null };
const home = {
  b: 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6',
  a: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const hashlock = '5e'.repeat(32);

const txidOf = (name: string) =>
  [...name.padEnd(32, '.')].map((each) => each.charCodeAt(0).toString(16)).join('');
const at = (confirmations: number, name: string): Sighting => ({
  txid: txidOf(name),
  confirmations,
  deep: confirmations >= 3,
});
const held = (confirmations: number): EscrowFacts => ({
  ...nothingSeen,
  funded: at(confirmations, 'fund'),
  balance: confirmations > 0 ? 1_000_000n : 0n,
  empty: false,
});

/** How a leg is shown, in a word. */
export const shows = {
  none: nothingSeen,
  little: { ...nothingSeen, balance: 990_000n, empty: false },
  littleBack: { ...nothingSeen, refunded: at(3, 'refund') },
  littlePooled: { ...nothingSeen, empty: false },
  pooled: held(0),
  mined: held(1),
  final: held(3),
  claimPooled: { ...held(9), claimed: at(0, 'claim'), balance: 0n, secret: hashlock },
  claimMined: { ...held(9), claimed: at(1, 'claim'), balance: 0n, secret: hashlock },
  claimed: { ...held(9), claimed: at(3, 'claim'), balance: 0n, secret: hashlock },
  refundMined: { ...held(9), refunded: at(1, 'refund'), balance: 0n },
  refunded: { ...held(9), refunded: at(3, 'refund'), balance: 0n },
} as const satisfies Record<string, EscrowFacts>;

export type Word = keyof typeof shows | 'silent';

export const payment = (
  amount: bigint,
  is: EscrowPayment['is'],
  spent: 'claim' | 'refund' | null = null,
  confirmations = 3,
): EscrowPayment => ({
  txid: txidOf(`pay ${amount}`),
  vout: 0,
  amount,
  confirmations,
  is,
  spent: spent === null ? null : { txid: txidOf(spent), by: spent },
});

export const payAsk: Ask = {
  kind: 'pay_by_hand',
  leg: 'b',
  address: 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6',
  amount: 1_000_000n,
  uri: 'bitcoin:bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6?amount=0.01',
  notAfter: deadlines.initiatorFundBy,
};

/** As judged of two nodes, one after the other. */
export const everyDoubt: readonly Doubt[] = [
  {
    code: 'chain_stands',
    sentence:
      'the newest block of node 1 of bitcoin-regtest is 10923 s older than now, more than 10800 s: ' +
      'the chain, its node or this clock stands still',
  },
  {
    code: 'nodes_disagree',
    sentence:
      'the nodes of bitcoin-regtest show an escrow differently (node 1: funded, node 2: unfunded)',
  },
  {
    code: 'answer_refused',
    sentence:
      'node 2 of bitcoin-regtest denies what was seen at depth, and proves no reorganisation',
  },
  {
    code: 'node_ahead',
    sentence: 'the newest block of node 2 of bitcoin-regtest is 7201 s newer than now',
  },
  {
    code: 'node_behind',
    sentence: 'node 2 of bitcoin-regtest stands at block 812, 9 behind another one',
  },
  {
    code: 'node_silent',
    sentence: 'node 1 of bitcoin-regtest does not answer; 1 of 2 is heard',
  },
];

const claimAsk = {
  kind: 'sign',
  leg: 'a',
  chain: usd.chain,
  family: 'evm',
  verb: 'claim',
} as const satisfies Ask;
const tooMuch: Problem = { kind: 'settle', leg: 'a', code: 'paid_too_much', sentence: 'decide' };

export type Given = Partial<Omit<SwapView, 'legs' | 'gives'>> & {
  /** Whether Bitcoin is given (as initiator), or got (as counterparty). */
  readonly gives?: 'BTC' | 'USDX';
  readonly btc?: Word;
  readonly usd?: Word;
  readonly at?: number;
  readonly payments?: readonly EscrowPayment[];
  /** Doubts about the nodes of Bitcoin. */
  readonly doubts?: readonly Doubt[];
  /** The request to a wallet, and how long ago. */
  readonly wallet?: Partial<WalletPayment> & { readonly ago: number };
  /** The answers of its Bitcoin nodes are not enough to begin by. */
  readonly isHeldUp?: boolean;
  /** No side has named its addresses yet: there is no escrow. */
  readonly isBare?: boolean;
};

function legOf(leg: LegName, word: Word): LegView {
  const isBitcoin = leg === 'b';
  return {
    leg,
    chain: isBitcoin ? btc.chain : usd.chain,
    family: isBitcoin ? 'bitcoin' : 'evm',
    asset: isBitcoin ? btc : usd,
    amount: isBitcoin ? 1_000_000n : 640_000_000n,
    isLong: isBitcoin,
    timelock: deadlines.refundAt[leg],
    requiredConfirmations: 3,
    escrow: isBitcoin ? (payAsk as { address: string }).address : `${token}:${hashlock}`,
    facts: word === 'silent' ? null : shows[word],
    clock: agreedAt,
    ownAddress: home[leg],
  };
}

/** Bitcoin is leg b, given by its initiator; leg a is a dollar on EVM. */
export function seen(given: Given = {}): Seen {
  const { gives: what = 'BTC', btc: onB = 'none', usd: onA = 'none', payments = [] } = given;
  const { at: now = agreedAt + 60, doubts: ofBitcoin = [], isHeldUp = false, ...more } = given;
  const { isBare = false, ...rest } = more;
  const bare = isBare ? { escrow: null } : {};
  const gives: LegName = what === 'BTC' ? 'b' : 'a';
  const party = what === 'BTC' ? 'taker' : 'maker';
  const trade: OwnTrade = {
    party,
    rfqId: 'rfq',
    threadId: 'thread',
    makerId: 'maker',
    takerId: 'taker',
    direction: 'sell_base',
    base: btc,
    baseAmount: 1_000_000n,
    quote: usd,
    quoteAmount: 640_000_000n,
    hashlock,
    acceptedAt: agreedAt,
    refundTo: { address: home[gives], pubkey: null },
    payTo: { address: home[gives === 'a' ? 'b' : 'a'], pubkey: null },
  };
  const swap: SwapView = {
    id: '0199aa00-0000-7000-8000-000000000001',
    phase: 'running',
    state: 'funding',
    trade,
    party,
    role: what === 'BTC' ? 'initiator' : 'counterparty',
    gives,
    legs: {
      a: { ...legOf('a', onA), ...bare },
      b: { ...legOf('b', onB), ...bare, doubts: ofBitcoin, isHeldUp },
    },
    agreedAt,
    deadlines,
    asks: [],
    checks: [],
    problems: [],
    history: [],
    end: null,
    isRestored: false,
    isGivenUp: false,
    isByHand: false,
    isRefundLeft: false,
    isClaimLeft: false,
    relay: null,
    ...only(rest),
  };
  const { wallet: asked } = given;
  const none = { wallet: 'Verse', is: 'asked', txid: null, why: null } as const;
  const wallet = asked === undefined ? null : { ...none, ...asked, at: now - asked.ago };
  return { swap, now, payments, wallet };
}

function only(rest: Omit<Given, 'doubts'>): Partial<SwapView> {
  const { btc: _, usd: __, gives: ___, payments: ____, wallet: _____, ...more } = rest;
  return more;
}

const byHand = { isByHand: true } as const;
const { initiatorFundBy, counterpartyFundBy, revealBy } = deadlines;
const both = { btc: 'final', usd: 'final' } as const;
const wallet = (kind: 'connect_wallet' | 'sign' | 'confirm_in_wallet' | 'declined'): Ask => ({
  kind,
  leg: 'a',
  chain: 'evm-dev',
  family: 'evm',
  address: home.a,
  verb: 'fund',
  sinceMs: 0,
});
const ended = (end: NonNullable<SwapView['end']>['end'], status: string) => ({
  phase: 'ended' as const,
  state: 'settled' as const,
  end: { swapId: 'swap', end, status, txids: {} } as unknown as SwapView['end'],
});

/** One of each screen, and of what it can look like. */
const given: readonly (readonly [name: string, is: Situation, given: Given])[] = [
  ['begins', 'starting', { state: 'preparing', phase: 'starting', btc: 'silent', usd: 'silent' }],
  [
    'brought back, no address',
    'starting',
    {
      state: 'preparing',
      phase: 'stopped',
      isRestored: true,
      btc: 'silent',
      usd: 'silent',
      asks: [{ kind: 'name_payout', leg: 'b', chain: 'bitcoin-regtest' }],
    },
  ],
  ['funding, unread', 'starting', { btc: 'silent', usd: 'silent' }],
  [
    'other side has named no address',
    'preparing',
    { state: 'preparing', btc: 'silent', usd: 'silent', isBare: true },
  ],
  ['waits to fund', 'other_funds_first', { state: 'waiting_to_fund', gives: 'USDX', btc: 'mined' }],
  ['gas is missing before paying', 'pay_not_yet', {}],
  ['pay', 'pay', { ...byHand, asks: [payAsk] }],
  [
    'pay, and nodes are silent and behind',
    'pay_held',
    { ...byHand, asks: [payAsk], doubts: everyDoubt.slice(4), isHeldUp: true },
  ],
  ['pay, told before a restart', 'pay', byHand],
  ['pay at the last moment', 'pay', { ...byHand, asks: [payAsk], at: initiatorFundBy }],
  ['pay, too late', 'pay_too_late', { ...byHand, at: initiatorFundBy + 1 }],
  ['wallet too late', 'pay_too_late', { ...byHand, at: initiatorFundBy + 1, wallet: { ago: 60 } }],
  ['wallet asked', 'wallet_confirm', paying({ ago: 119 })],
  ['wallet silent', 'wallet_silent', paying({ ago: 120 })],
  ['wallet failed', 'wallet_failed', paying({ ago: 1, is: 'failed', why: 'Verse has 0 coins' })],
  ['wallet sent', 'wallet_sent', paying({ ago: 59, is: 'sent', txid: txidOf('verse') })],
  ['wallet unseen', 'wallet_unseen', paying({ ago: 60, is: 'sent', txid: txidOf('verse') })],
  [
    'wallet asked after too little',
    'wallet_confirm',
    { ...byHand, asks: [payAsk], btc: 'little', wallet: { ago: 1 } },
  ],
  [
    'wallet sent, and seen',
    'paid',
    { ...byHand, btc: 'pooled', wallet: { ago: 9, is: 'sent', txid: txidOf('fund') } },
  ],
  ['too little in a pool', 'pay_again', { ...byHand, asks: [payAsk], btc: 'littlePooled' }],
  [
    'too little',
    'pay_again',
    { ...byHand, asks: [payAsk], btc: 'little', payments: [payment(990_000n, 'too_little')] },
  ],
  [
    'too little, too late',
    'paid_little',
    {
      ...byHand,
      state: 'funding',
      btc: 'little',
      payments: [payment(990_000n, 'too_little')],
      at: initiatorFundBy + 1,
    },
  ],
  [
    'paid, in a pool',
    'paid',
    { ...byHand, btc: 'pooled', payments: [payment(1_000_000n, 'funding', null, 0)] },
  ],
  [
    'paid, in a block',
    'paid',
    { ...byHand, btc: 'mined', payments: [payment(1_000_000n, 'funding', null, 1)] },
  ],
  ['paid late', 'paid_late', { ...byHand, btc: 'pooled', at: initiatorFundBy + 1 }],
  ['wallet is missing', 'fund', { gives: 'USDX', btc: 'final', asks: [wallet('connect_wallet')] }],
  ['wallet asks', 'fund', { gives: 'USDX', btc: 'final', asks: [wallet('confirm_in_wallet')] }],
  ['declined', 'fund', { gives: 'USDX', btc: 'final', asks: [wallet('declined')] }],
  ['sent by a wallet', 'fund_sent', { gives: 'USDX', btc: 'final', history: [happened('funded')] }],
  ['in a block', 'fund_sent', { gives: 'USDX', btc: 'final', usd: 'mined' }],
  [
    'cancels',
    'cancelling',
    { gives: 'USDX', state: 'cancelling', btc: 'final', at: counterpartyFundBy + 1 },
  ],
  [
    'gives up',
    'giving_up',
    { gives: 'USDX', state: 'giving_up', ...both, isGivenUp: true, at: counterpartyFundBy },
  ],
  [
    'gives up, and the wallet is asked',
    'giving_up',
    { state: 'giving_up', ...both, isGivenUp: true, asks: [{ ...claimAsk, verb: 'release' }] },
  ],
  ['waits for the other', 'other_funds', { state: 'funded', btc: 'final' }],
  [
    'nodes that nobody can rely on',
    'other_funds',
    { state: 'funded', btc: 'final', doubts: everyDoubt },
  ],
  [
    'other one funds at the end',
    'other_funds',
    { state: 'funded', btc: 'final', at: counterpartyFundBy },
  ],
  [
    'other one did not fund',
    'waits_for_refund',
    { state: 'funded', btc: 'final', at: counterpartyFundBy + 1 },
  ],
  [
    'other one is late and seen',
    'other_funds',
    { state: 'funded', btc: 'final', usd: 'mined', at: counterpartyFundBy + 1 },
  ],
  ['too late to collect', 'waits_for_refund', { state: 'funded', ...both, at: revealBy + 1 }],
  ['other one collects', 'other_collects', { state: 'funded', gives: 'USDX', ...both }],
  [
    'other one is late',
    'other_is_late',
    { state: 'funded', gives: 'USDX', ...both, at: revealBy + 1 },
  ],
  ['collects', 'collect', { state: 'revealing', ...both }],
  [
    'paid twice',
    'decide_extra',
    {
      state: 'revealing',
      ...byHand,
      ...both,
      payments: [payment(1_000_000n, 'funding'), payment(1_000_001n, 'further')],
    },
  ],
  [
    'paid twice once a wallet was to be asked',
    'decide_extra',
    {
      state: 'revealing',
      ...byHand,
      ...both,
      asks: [claimAsk],
      problems: [tooMuch],
      payments: [payment(1_000_000n, 'funding'), payment(1_000_001n, 'further')],
    },
  ],
  [
    'paid twice, and decided',
    'collect',
    {
      state: 'revealing',
      ...byHand,
      ...both,
      asks: [claimAsk],
      payments: [payment(1_000_000n, 'funding'), payment(1_000_001n, 'further')],
    },
  ],
  [
    'paid a hundredth too much',
    'decide_extra',
    { state: 'revealing', ...byHand, ...both, payments: [payment(1_010_000n, 'funding')] },
  ],
  [
    'paid a little too much',
    'collect',
    { state: 'revealing', ...byHand, ...both, payments: [payment(1_009_999n, 'funding')] },
  ],
  ['secret is out', 'collect', { state: 'claiming', gives: 'USDX', btc: 'final', usd: 'claimed' }],
  ['claim in a pool', 'collecting', { state: 'claiming', btc: 'final', usd: 'claimPooled' }],
  ['claim in a block', 'collecting', { state: 'claiming', btc: 'final', usd: 'claimMined' }],
  ['received', 'received', { state: 'received', btc: 'final', usd: 'claimed' }],
  ['refunds', 'refund', { state: 'refunding', btc: 'final', at: deadlines.refundAt.b + 1 }],
  [
    'refund in a block',
    'refunding',
    { state: 'refunding', btc: 'refundMined', at: deadlines.refundAt.b + 9 },
  ],
  ['brought back', 'watching', { state: 'waiting_to_fund', isRestored: true }],
  [
    'done',
    'done_received',
    { ...ended('received', 'counterparty_claimed'), btc: 'claimed', usd: 'claimed' },
  ],
  ['refunded', 'done_refunded', { ...ended('refunded', 'refunded'), btc: 'refunded' }],
  ['nothing', 'done_nothing', { ...ended('nothing', 'expired'), gives: 'USDX' }],
  [
    'nothing, by this side',
    'done_not_locked',
    { ...ended('nothing', 'expired'), gives: 'USDX', btc: 'refunded' },
  ],
  [
    'nothing, though one locks first',
    'done_not_locked',
    { ...ended('nothing', 'expired'), role: 'initiator', gives: 'USDX' },
  ],
  ['nothing, brought back', 'done_unpaid', { ...ended('nothing', 'expired'), isRestored: true }],
  [
    'nothing of a wallet, brought back',
    'done_nothing',
    { ...ended('nothing', 'expired'), gives: 'USDX', isRestored: true },
  ],
  ['nothing by hand', 'done_unpaid', { ...ended('nothing', 'expired'), ...byHand }],
  [
    'lost',
    'done_lost',
    { ...ended('lost', 'half_settled'), gives: 'USDX', usd: 'claimed', btc: 'refunded' },
  ],
];

export const states = given.map(([name, is, each]) => [name, is, seen(each)] as const);

function paying(wallet: NonNullable<Given['wallet']>): Given {
  return { ...byHand, asks: [payAsk], wallet };
}

export function happened(step: SwapView['history'][number]['step']): SwapView['history'][number] {
  return { at: agreedAt, state: 'funding', step, leg: 'a', text: 'sent', txid: txidOf('fund') };
}

export const healthy: Health = { store: 'persisted', storeSentence: null, clockOffSeconds: 1 };
