// What a malicious party does besides keeping up appearances. It knows both chains and all public
// secrets, builds its transactions itself, and signs with its own keys only.

import { hash } from 'node:crypto';
import type { LegName } from '../../core/trade.ts';
import { feeToReplace } from './adapter.ts';
import { chainClock, heldIn, holdsAny, issue, refusal, type SimChain, waitingAt } from './chain.ts';
import { escrowsOn, isFinal, isPublic, walletsOn } from './deals.ts';
import { askPlainly, post } from './people.ts';
import { isStrayed } from './promises.ts';
import { sendDirect } from './servers.ts';
import type { Deal, Side, View, World } from './state.ts';
import { rawOf, type SimTransaction, type Verb } from './transaction.ts';
import { count, nodeOf, seconds, tell, violate } from './world.ts';

export type Turn = {
  readonly world: World;
  readonly side: Side;
  readonly deal: Deal;
  readonly view: View;
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

export function make(turn: Turn, chain: SimChain, about: Making): SimTransaction {
  const { verb, escrow, amount = 0n, secret = null } = about;
  const { party } = turn.side;
  const terms = chain.plans.get(escrow);
  const spendsCoins = chain.family === 'bitcoin' && (verb === 'claim' || verb === 'refund');
  const unspent = heldIn(chain, escrow).filter(({ spentBy }) => spentBy === null);
  const payments = [...unspent, ...waitingAt(chain, escrow, 'fund')];
  const coins = spendsCoins
    ? payments.map(({ txid }) => txid)
    : [about.coin ?? `coin-${party.chance.hex(8)}`];
  const side = verb === 'claim' ? terms?.payout : terms?.refund;
  const named = spendsCoins ? side?.pubkey : side?.address;
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

/** The escrow that a leg has at this moment, where it holds a payment that its node shows. */
async function paidNow({ world, side, deal, view }: Turn, chain: SimChain): Promise<string | null> {
  const at = [view.legs.a, view.legs.b].find((leg) => leg.chain === chain.chain);
  const { lag } = nodeOf(world, chain.chain);
  const isWhole = heldIn(chain, at?.escrow).some(({ amount }) => amount >= BigInt(at?.amount ?? 0));
  if (!isWhole || lag > 0 || world.lied.has(at?.escrow ?? '')) return null;
  const { status, body } = await askPlainly(world, side.party, { url: `/v1/swaps/${deal.id}` });
  return status === 200 ? escrowIn(body, at?.escrow) : null;
}

type Body = Awaited<ReturnType<typeof askPlainly>>['body'];

/** The same, where a leg of the swap has it. */
function escrowIn({ legs }: Body, wanted?: string | null): string | null {
  return [legs.a, legs.b].some(({ escrow }) => escrow === wanted) ? (wanted ?? null) : null;
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
  if (paid !== null && status === 200 && escrowIn(body.swap, paid) === null) {
    violate(world, 'a leg that is paid does not move', deal.name);
  }
  if (status === 409) side.busyUntil.set(name, seconds(world) + 7_200);
  note();
};

/** Two of three claims look unlike ours: which, their coins say, so that no chance is drawn. */
function disguised(
  { world }: Turn,
  chain: SimChain,
  tx: SimTransaction,
  secret: string,
): SimTransaction {
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

/** Signed bytes that must be refused, or change nothing. */
const nonsense: Move = async (turn) => {
  const { world, side, deal, own, other } = turn;
  const { chance } = side.party;
  const chain = chance.pick([own, other]);
  const [escrow = ''] = escrowsOn(chain, deal);
  const secret = chance.hex(32);
  const verb = chance.pick(['claim', 'refund', 'fund'] as const);
  const tx = make(turn, chain, { verb, escrow, secret, amount: 1_000n });
  const body = { chain: chain.chain, signed: chance.hits(0.3) ? 'zz' : rawOf(tx) };
  count(world, 'attack nonsense');
  await post(world, side.party, '/v1/tx/broadcast', { body });
};

/** Asks the builders for what they must not hand out. */
export const tryBuilders: Move = async (turn) => {
  const { world, side, deal, view, own, ownName, otherName } = turn;
  count(world, 'attack on builders');
  const build = (leg: LegName, verb: Verb, secret?: string) =>
    post(
      world,
      side.party,
      `/v1/swaps/${deal.id}/legs/${leg}/${verb}`,
      secret === undefined ? {} : { body: { secret } },
    );
  const wrong = await build(otherName, 'claim', side.party.chance.hex(32));
  if (wrong.status === 200) violate(world, 'no claim with a wrong secret', deal.name);
  const theirs = await build(otherName, 'refund');
  if (theirs.status === 200) violate(world, 'nobody refunds what another funded', deal.name);
  const paying = await build(otherName, 'fund');
  if (paying.status === 200) violate(world, 'nobody funds what another must', deal.name);
  await tryToReveal(turn);
  await tryToFund(turn);
  const early = chainClock(own) + clockSlackSeconds < view.legs[ownName].timelock;
  // Of a leg that has ended, what may be left there waits for no timelock.
  const held = heldIn(own, view.legs[ownName].escrow);
  const holds = held.length > 0 && held.every(({ spentBy }) => spentBy === null);
  const refund = await build(ownName, 'refund');
  if (refund.status === 200 && early && holds) {
    violate(world, 'no refund before its timelock', `${deal.name}, leg ${ownName}`);
  }
};

/** The secret would be out too early, or too late. */
export async function tryToReveal({ world, side, deal, view, otherName }: Turn): Promise<void> {
  if (side.role !== 'initiator') return;
  const url = `/v1/swaps/${deal.id}/legs/${otherName}/claim`;
  const strays = isStrayed(world, deal);
  const { status } = await post(world, side.party, url, { body: { secret: deal.secret } });
  if (status !== 200 || isPublic(world, deal)) return;
  if (strays) violate(world, 'not while a former escrow is paid', `${deal.name}, a reveal`);
  const late = seconds(world) > view.deadlines.revealBy;
  if (late) violate(world, 'no reveal after its last moment', deal.name);
  const shallow = (['a', 'b'] as const).find((name) => !isFinal(world, deal, name));
  if (shallow) violate(world, 'no reveal before both legs are final', `${deal.name} ${shallow}`);
}

export const fundBy = ({ side, view }: Pick<Turn, 'side' | 'view'>): number =>
  view.deadlines[side.role === 'initiator' ? 'initiatorFundBy' : 'counterpartyFundBy'];

export async function tryToFund(turn: Turn): Promise<void> {
  const { world, side, deal, ownName, otherName } = turn;
  const strays = isStrayed(world, deal);
  const { status } = await post(world, side.party, `/v1/swaps/${deal.id}/legs/${ownName}/fund`);
  if (status !== 200) return;
  if (strays) violate(world, 'not while a former escrow is paid', `${deal.name}, a funding`);
  const late = seconds(world) > fundBy(turn);
  if (late) violate(world, 'no funding after its last moment', deal.name);
  if (side.role === 'counterparty' && !isFinal(world, deal, otherName)) {
    violate(world, 'no funding before the long leg is final', deal.name);
  }
}

/** A reorganisation may have taken the newest blocks' times back. */
export const clockSlackSeconds = 3_600;

export const attackMoves: readonly Move[] = [
  ...[fundWrong, fundAny, takeBack, moveAddress, moveAddress],
  ...[claimAny, claimAny, refundAny, nonsense, tryBuilders],
];
