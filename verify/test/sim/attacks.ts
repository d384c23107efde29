// The acts of a malicious party besides keeping up appearances. It knows both chains and all public
// secrets, builds its transactions itself, and signs with its own keys only. Some of it must be
// refused whoever would lose by it: its requests to builders and relays, and signed transactions
// that are handed to the market's own broadcast past the moments at which its builders stop.

import { hash } from 'node:crypto';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import {
  chainClock,
  heldIn,
  holdsAny,
  issue,
  rawOf,
  refusal,
  type SimChain,
  type SimTransaction,
  type Verb,
  waitingAt,
} from './chain.ts';
import { paidLeg, type Seen } from './honest.ts';
import { feeToReplace } from './node.ts';
import { isStrayed } from './oracle.ts';
import { askPlainly, post } from './people.ts';
import { sendDirect } from './servers.ts';
import {
  type Answer,
  count,
  escrowsOn,
  isFinal,
  isPublic,
  nodeOf,
  seconds,
  shallowLeg,
  tell,
  violate,
  walletsOn,
} from './world.ts';

export type Turn = Seen & {
  readonly own: SimChain;
  readonly other: SimChain;
  /** The leg that it funds, and the other. */
  readonly ownName: LegName;
  readonly otherName: LegName;
};

export type Move = (turn: Turn) => Promise<void> | void;

export function send({ world, side, deal }: Turn, chain: SimChain, tx: SimTransaction): void {
  if (refusal(chain, tx, seconds(world)) !== null) return;
  count(world, `attack ${tx.verb}`);
  tell(world, `${side.party.name} itself: ${tx.verb} ${tx.amount} at ${tx.escrow} (${deal.name})`);
  sendDirect(world, chain, tx);
}

type Making = {
  verb: Verb;
  escrow: string;
  amount?: bigint;
  secret?: string | null;
  coin?: string;
};

export function make({ side }: Turn, chain: SimChain, about: Making): SimTransaction {
  const { verb, escrow, amount = 0n, secret = null } = about;
  const { party } = side;
  const terms = chain.plans.get(escrow);
  const spendsCoins = chain.family === 'bitcoin' && (verb === 'claim' || verb === 'refund');
  const unspent = heldIn(chain, escrow).filter(({ spentBy }) => spentBy === null);
  const payments = [...unspent, ...waitingAt(chain, escrow, 'fund')];
  const coins = spendsCoins
    ? payments.map(({ txid }) => txid)
    : [about.coin ?? `coin-${party.chance.hex(8)}`];
  const bound = verb === 'claim' ? terms?.payout : terms?.refund;
  const named = spendsCoins ? bound?.pubkey : bound?.address;
  const wallets = walletsOn(party, chain.chain);
  const isOwn = wallets.some(({ address, pubkey }) => named === address || named === pubkey);
  const by = isOwn && named ? named : (wallets[0]?.address ?? '');
  const fee = feeToReplace(chain, coins) + party.chance.int(0, 3);
  const common = { chain: chain.chain, verb, escrow, by, coins, fee, secret };
  return { ...common, amount: amount.toString() };
}

export function fund(turn: Turn, escrow: string, amount: bigint): void {
  send(turn, turn.own, make(turn, turn.own, { verb: 'fund', escrow, amount }));
}

export const plannedAmount = (chain: SimChain, escrow: string): bigint =>
  chain.plans.get(escrow)?.amount ?? 0n;

const fundWrong: Move = (turn) => {
  const { own, side, deal } = turn;
  for (const escrow of escrowsOn(own, deal)) {
    const whole = plannedAmount(own, escrow);
    const amount = side.party.chance.pick([whole - 1n, whole / 2n, 600n, whole * 2n]);
    if (amount > 0n) fund(turn, escrow, amount);
  }
};

/** Former ones too, early and late. */
export const fundAny: Move = (turn) => {
  const { own, side, deal } = turn;
  const escrows = escrowsOn(own, deal);
  if (escrows.length === 0) return;
  const escrow = side.party.chance.pick(escrows);
  fund(turn, escrow, plannedAmount(own, escrow));
};

/** Pays itself with the coin of a funding that waits. */
export function replace(turn: Turn, { coins }: SimTransaction): void {
  const coin = coins[0] as string;
  send(turn, turn.own, make(turn, turn.own, { verb: 'move', escrow: '', coin }));
  count(turn.world, 'transaction replaced');
}

const takeBack: Move = (turn) => {
  const { own, side } = turn;
  const wallets = walletsOn(side.party, own.chain);
  for (const { tx } of [...own.mempool.values()]) {
    if (tx.verb === 'fund' && wallets.some(({ address }) => address === tx.by)) replace(turn, tx);
  }
};

/** Whether a leg of the swap has that escrow. */
const isLegs = ({ legs }: Answer['body'], escrow?: string | null): boolean =>
  [legs.a, legs.b].some((leg) => leg.escrow === escrow);

/** The escrow that a leg has at this moment, where it holds a payment that its node shows. */
async function paidNow({ world, side, deal, view }: Turn, chain: SimChain): Promise<string | null> {
  const at = [view.legs.a, view.legs.b].find((leg) => leg.chain === chain.chain);
  const { lag } = nodeOf(world, chain.chain);
  const isWhole = heldIn(chain, at?.escrow).some(({ amount }) => amount >= BigInt(at?.amount ?? 0));
  if (!isWhole || lag > 0 || world.lied.has(at?.escrow ?? '')) return null;
  const { status, body } = await askPlainly(world, side.party, { url: `/v1/swaps/${deal.id}` });
  return status === 200 && isLegs(body, at?.escrow) ? (at?.escrow ?? null) : null;
}

export async function move({ world, side, deal }: Turn, on: string, address: string) {
  const url = `/v1/swaps/${deal.id}/address`;
  const answer = await post(world, side.party, url, { body: { chain: on, address } });
  count(world, 'attack move address');
  const said = answer.code ?? answer.status;
  return {
    ...answer,
    note: () => tell(world, `${side.party.name} moves its address on ${on}: ${said}`),
  };
}

export const moveAddress: Move = async (turn) => {
  const { world, side, deal, own, other } = turn;
  const chain = side.party.chance.pick([own, other]);
  const name = `move ${chain.chain}`;
  if ((side.busyUntil.get(name) ?? 0) > seconds(world)) return;
  const wallet = side.party.chance.pick(walletsOn(side.party, chain.chain));
  const paid = await paidNow(turn, chain);
  const { status, body, note } = await move(turn, chain.chain, wallet.pubkey ?? wallet.address);
  // The address that it has already is refused to nobody, and moves nothing.
  if (paid !== null && status === 200 && !isLegs(body.swap, paid)) {
    violate(world, 'a leg that is paid does not move', deal.name);
  }
  if (status === 409) side.busyUntil.set(name, seconds(world) + 7_200);
  note();
};

/** Two of three claims look unlike ours: which, their coins say, so that no chance is drawn. */
function disguised({ world }: Turn, chain: SimChain, tx: SimTransaction, secret: string) {
  const drawn = Number.parseInt(hash('sha256', tx.coins.join()).slice(0, 8), 16);
  if (drawn % 3 === 0) return tx;
  if (chain.family !== 'bitcoin') {
    // Anybody may send a claim there; it pays whom the escrow names.
    const by = `stranger-${chain.chain}-${tx.coins[0]}`;
    issue(chain, by, BigInt(tx.fee));
    count(world, 'attack with a strange payer');
    return { ...tx, by };
  }
  const decoy = hash('sha256', secret);
  const shapes = [
    ['30', secret, '02'],
    [decoy, '51', '30', secret, '01'],
    ['30', decoy, '01', `51${'20'}${secret}`],
    [secret, decoy, '30', decoy, '01'],
  ] as const;
  const pushes = shapes[drawn % shapes.length] as readonly string[];
  count(world, 'attack with an odd witness');
  return { ...tx, pushes };
}

/** With the secret, its own or a public one, whatever the deadlines say. */
export const claimAny: Move = (turn) => {
  const { other, deal, side, own } = turn;
  const shown = other.shown.get(deal.hashlock) ?? own.shown.get(deal.hashlock);
  const secret = side.role === 'initiator' ? deal.secret : (shown ?? null);
  if (secret === null) return;
  for (const escrow of escrowsOn(other, deal)) {
    const waits = waitingAt(other, escrow);
    const isClaimed = waits.some(({ tx }) => tx.verb === 'claim');
    const holds = (holdsAny(other, escrow) || waits.length > 0) && !isClaimed;
    if (!holds && !side.party.chance.hits(0.02)) continue;
    const tx = make(turn, other, { verb: 'claim', escrow, secret });
    if (tx.coins.length > 0) send(turn, other, disguised(turn, other, tx, secret));
  }
};

export const refundAny: Move = (turn) => {
  const { own, deal } = turn;
  for (const escrow of escrowsOn(own, deal)) {
    if (holdsAny(own, escrow)) send(turn, own, make(turn, own, { verb: 'refund', escrow }));
  }
};

const broadcast = ({ world, side }: Turn, chain: SimChain, signed: string): Promise<Answer> =>
  post(world, side.party, '/v1/tx/broadcast', { body: { chain: chain.chain, signed } });

/** Signed bytes that must be refused, or change nothing. */
const nonsense: Move = async (turn) => {
  const { world, side, deal, own, other } = turn;
  const { chance } = side.party;
  const chain = chance.pick([own, other]);
  const [escrow = ''] = escrowsOn(chain, deal);
  const secret = chance.hex(32);
  const verb = chance.pick(['claim', 'refund', 'fund'] as const);
  const tx = make(turn, chain, { verb, escrow, secret, amount: 1_000n });
  const signed = chance.hits(0.3) ? 'zz' : rawOf(tx);
  count(world, 'attack nonsense');
  await broadcast(turn, chain, signed);
};

const build = ({ world, side, deal }: Turn, leg: LegName, verb: Verb, secret?: string) =>
  post(
    world,
    side.party,
    `/v1/swaps/${deal.id}/legs/${leg}/${verb}`,
    secret === undefined ? {} : { body: { secret } },
  );

/** Asks the builders for what they must not hand out. */
export const tryBuilders: Move = async (turn) => {
  const { world, side, deal, view, own, ownName, otherName } = turn;
  count(world, 'attack on builders');
  const wrong = await build(turn, otherName, 'claim', side.party.chance.hex(32));
  if (wrong.status === 200) violate(world, 'no claim with a wrong secret', deal.name);
  const theirs = await build(turn, otherName, 'refund');
  if (theirs.status === 200) violate(world, 'nobody refunds what another funded', deal.name);
  const paying = await build(turn, otherName, 'fund');
  if (paying.status === 200) violate(world, 'nobody funds what another must', deal.name);
  await tryToReveal(turn);
  await tryToFund(turn);
  const early = chainClock(own) + clockSlackSeconds < view.legs[ownName].timelock;
  // The rest in an ended leg waits for no timelock.
  const held = heldIn(own, view.legs[ownName].escrow);
  const holds = held.length > 0 && held.every(({ spentBy }) => spentBy === null);
  const refund = await build(turn, ownName, 'refund');
  if (refund.status === 200 && early && holds) {
    violate(world, 'no refund before its timelock', `${deal.name}, leg ${ownName}`);
  }
};

/** The secret would be out too early, or too late. */
export async function tryToReveal(turn: Turn): Promise<void> {
  const { world, side, deal, view, otherName } = turn;
  if (side.role !== 'initiator') return;
  const strays = isStrayed(world, deal);
  const { status } = await build(turn, otherName, 'claim', deal.secret);
  if (status !== 200 || isPublic(world, deal)) return;
  if (strays) violate(world, 'not while a former escrow is paid', `${deal.name}, a reveal`);
  const late = seconds(world) > view.deadlines.revealBy;
  if (late) violate(world, 'no reveal after its last moment', deal.name);
  const shallow = shallowLeg(world, deal);
  if (shallow) violate(world, 'no reveal before both legs are final', `${deal.name} ${shallow}`);
}

const fundBy = ({ side, view }: Pick<Turn, 'side' | 'view'>): number =>
  view.deadlines[side.role === 'initiator' ? 'initiatorFundBy' : 'counterpartyFundBy'];

export async function tryToFund(turn: Turn): Promise<void> {
  const { world, side, deal, ownName, otherName } = turn;
  const strays = isStrayed(world, deal);
  const { status } = await build(turn, ownName, 'fund');
  if (status !== 200) return;
  if (strays) violate(world, 'not while a former escrow is paid', `${deal.name}, a funding`);
  const late = seconds(world) > fundBy(turn);
  if (late) violate(world, 'no funding after its last moment', deal.name);
  if (side.role === 'counterparty' && !isFinal(world, deal, otherName)) {
    violate(world, 'no funding before the long leg is final', deal.name);
  }
}

/** A reorganisation may have taken the newest blocks' times back. */
const clockSlackSeconds = 3_600;

export const attackMoves: readonly Move[] = [
  fundWrong,
  fundAny,
  takeBack,
  moveAddress,
  moveAddress,
  claimAny,
  claimAny,
  refundAny,
  nonsense,
  tryBuilders,
];

/** By the market, which must not take it; `rule` says why. */
async function mustBeRefused(turn: Turn, chain: SimChain, about: Making, rule: string) {
  const { world, side, deal } = turn;
  const tx = make(turn, chain, about);
  if (tx.coins.length === 0) return;
  count(world, 'attack past the gates');
  const { status, code } = await broadcast(turn, chain, rawOf(tx));
  tell(world, `${side.party.name} hands in a ${tx.verb} of ${deal.name}: ${code ?? status}`);
  if (status === 200) violate(world, rule, `${deal.name}, a ${tx.verb} by ${side.party.name}`);
}

/** Its own leg, too late or before the other's is final. */
async function fundPast(turn: Turn): Promise<void> {
  const { world, own, deal, view, side, ownName, otherName } = turn;
  const { escrow, amount } = view.legs[ownName];
  if (escrow === null || heldIn(own, escrow).length > 0) return;
  const isLate = seconds(world) > fundBy(turn);
  const isEarly = side.role !== 'initiator' && !isFinal(world, deal, otherName);
  if (!isLate && !isEarly) return;
  const rule = isLate
    ? 'no funding after its last moment'
    : 'no funding before the long leg is final';
  await mustBeRefused(turn, own, { verb: 'fund', escrow, amount: BigInt(amount) }, rule);
}

const going = ['agreed', 'initiator_funded', 'counterparty_funded', 'initiator_claimed'];

/** The other leg, before both are final or too late; with a wrong secret at any time. */
async function claimPast(turn: Turn): Promise<void> {
  const { world, deal, side, other: chain, view, otherName } = turn;
  const { escrow } = view.legs[otherName];
  // An ended swap is not watched any more: a transaction that touches it is passed on.
  if (escrow === null || heldIn(chain, escrow).some(({ spentBy }) => spentBy !== null)) return;
  const about = { verb: 'claim', escrow } as const;
  const wrong = { ...about, secret: side.party.chance.hex(32) };
  await mustBeRefused(turn, chain, wrong, 'no claim with a wrong secret');
  if (side.role !== 'initiator' || isPublic(world, deal)) return;
  const isLate = seconds(world) > view.deadlines.revealBy;
  if (!isLate && shallowLeg(world, deal) === undefined) return;
  const rule = isLate ? 'no reveal after its last moment' : 'no reveal before both legs are final';
  await mustBeRefused(turn, chain, { ...about, secret: deal.secret }, rule);
}

/** Before its timelock, where a node would take what fails. */
async function refundPast(turn: Turn): Promise<void> {
  const { own, view, ownName } = turn;
  const { escrow, timelock } = view.legs[ownName];
  if (escrow === null || !holdsAny(own, escrow)) return;
  if (chainClock(own) + clockSlackSeconds >= timelock) return;
  await mustBeRefused(turn, own, { verb: 'refund', escrow }, 'no refund before its timelock');
}

/** Now by a builder, now by hand. */
export const pastGates: Move = async (turn) => {
  if (!going.includes(turn.view.status)) return;
  await tryToFund(turn);
  await fundPast(turn);
  const { chance } = turn.side.party;
  if (chance.hits(0.5)) await claimPast(turn);
  if (chance.hits(0.3)) await refundPast(turn);
  if (chance.hits(0.3)) await tryToReveal(turn);
  if (chance.hits(0.3)) await tryBuilders(turn);
};

/** Asks for relays: whenever, with any secret, of any leg, twice, beside what may be asked. */
export const tryRelays: Move = async ({ world, side, deal, view }) => {
  const { keeper } = world;
  if (keeper === null) return;
  const { chance } = keeper;
  const isHidden = side.role === 'initiator' && view.secret === null;
  const isLate = isHidden && seconds(world) > view.deadlines.revealBy;
  if (!chance.hits(isLate ? 0.6 : 0.1)) return;
  const own = paidLeg(side, view);
  const isKnown = side.role === 'initiator' || isPublic(world, deal);
  const secret = isKnown ? deal.secret : chance.hex(32);
  const wrong = chance.hex(32);
  const relay = (leg: LegName, shown: string) =>
    post(world, side.party, `/v1/swaps/${deal.id}/legs/${leg}/claim`, {
      body: { secret: shown, relay: true },
    });
  count(world, 'attack on relays');
  const drawn = isLate ? 3 : chance.int(0, 3);
  if (drawn === 0) await relay(own, wrong);
  else if (drawn === 1) {
    const { status } = await relay(otherLeg(own), secret);
    if (status === 200) violate(world, 'nobody claims what another is paid', deal.name);
  } else if (drawn === 2) await Promise.all([relay(own, secret), relay(own, secret)]);
  else await relay(own, secret);
};
