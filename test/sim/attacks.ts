// What a malicious party does besides keeping up appearances. It knows both chains and all public
// secrets, builds its transactions itself, and signs with its own keys only.

import { feeToReplace } from './adapter.ts';
import { clockAt, refusal, type SimChain, tipOf } from './chain.ts';
import { followRules, isGone } from './honest.ts';
import { ask, type Deal, legOf, ownLeg, type Side, type View } from './people.ts';
import { rawOf, type SimTransaction, type Verb } from './transaction.ts';
import { chainOf, count, later, seconds, sendDirect, tell, violate, type World } from './world.ts';

type Turn = {
  readonly world: World;
  readonly side: Side;
  readonly deal: Deal;
  readonly view: View;
  readonly own: SimChain;
  readonly other: SimChain;
};

type Move = (turn: Turn) => Promise<void> | void;

/** Every escrow of the deal's hashlock on the chain, whoever planned it. */
function escrowsOn(chain: SimChain, { hashlock }: Deal): string[] {
  return [...chain.plans].filter(([, terms]) => terms.hashlock === hashlock).map(([at]) => at);
}

function send({ world, side, deal }: Turn, chain: SimChain, tx: SimTransaction): void {
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

function make(turn: Turn, chain: SimChain, about: Making): SimTransaction {
  const { verb, escrow, amount = 0n, secret = null } = about;
  const { party } = turn.side;
  const terms = chain.plans.get(escrow);
  const bitcoin = chain.family === 'bitcoin';
  const spends = verb === 'claim' || verb === 'refund';
  const held = chain.holdings.get(escrow) ?? [];
  const waiting = [...chain.mempool.values()].filter(
    ({ tx }) => tx.escrow === escrow && tx.verb === 'fund',
  );
  const payments = [...held.filter(({ spentBy }) => spentBy === null), ...waiting];
  const coins =
    bitcoin && spends
      ? payments.map(({ txid }) => txid)
      : [about.coin ?? `coin-${party.chance.hex(8)}`];
  const side = verb === 'claim' ? terms?.payout : terms?.refund;
  const named = bitcoin && spends ? side?.pubkey : side?.address;
  const wallets = party.wallets.get(chain.chain) ?? [];
  const isOwn = wallets.some(({ address, pubkey }) => named === address || named === pubkey);
  const by = isOwn && named ? named : (wallets[0]?.address ?? '');
  const fee = feeToReplace(chain, coins) + party.chance.int(0, 3);
  const common = { chain: chain.chain, verb, escrow, by, coins, fee, secret };
  return { ...common, amount: amount.toString() };
}

const fundWrong: Move = (turn) => {
  const { own, side, deal } = turn;
  for (const escrow of escrowsOn(own, deal)) {
    const whole = own.plans.get(escrow)?.amount ?? 0n;
    const amount = side.party.chance.pick([whole - 1n, whole / 2n, 600n, whole * 2n]);
    if (amount > 0n) send(turn, own, make(turn, own, { verb: 'fund', escrow, amount }));
  }
};

/** Former ones too, early and late. */
const fundAny: Move = (turn) => {
  const { own, side, deal } = turn;
  const escrows = escrowsOn(own, deal);
  if (escrows.length === 0) return;
  const escrow = side.party.chance.pick(escrows);
  const amount = own.plans.get(escrow)?.amount ?? 0n;
  send(turn, own, make(turn, own, { verb: 'fund', escrow, amount }));
};

/** Pays itself with the coin of a funding that waits. */
const takeBack: Move = (turn) => {
  const { own, side, world } = turn;
  const wallets = side.party.wallets.get(own.chain) ?? [];
  for (const { tx } of [...own.mempool.values()]) {
    if (tx.verb !== 'fund' || !wallets.some(({ address }) => address === tx.by)) continue;
    const coin = tx.coins[0] as string;
    send(turn, own, make(turn, own, { verb: 'move', escrow: '', coin }));
    count(world, 'transaction replaced');
  }
};

const moveAddress: Move = async ({ world, side, deal, own, other }) => {
  const chain = side.party.chance.pick([own, other]);
  const wallet = side.party.chance.pick(side.party.wallets.get(chain.chain) ?? []);
  const address = wallet.pubkey ?? wallet.address;
  const { status, code } = await ask(world, side.party, {
    method: 'POST',
    url: `/v1/swaps/${deal.id}/address`,
    body: { chain: chain.chain, address },
  });
  count(world, 'attack move address');
  tell(world, `${side.party.name} moves its address on ${chain.chain}: ${code ?? status}`);
};

/** With the secret, its own or a public one, whatever the deadlines say. */
const claimAny: Move = (turn) => {
  const { other, deal, side, own } = turn;
  const shown = other.shown.get(deal.hashlock) ?? own.shown.get(deal.hashlock);
  const secret = side.role === 'initiator' ? deal.secret : (shown ?? null);
  if (secret === null) return;
  for (const escrow of escrowsOn(other, deal)) {
    const there = (other.about.get(escrow) ?? []).length > 0;
    const waits = [...other.mempool.values()].some(({ tx }) => tx.escrow === escrow);
    if (!there && !waits && !side.party.chance.hits(0.05)) continue;
    const tx = make(turn, other, { verb: 'claim', escrow, secret });
    if (tx.coins.length > 0) send(turn, other, tx);
  }
};

const refundAny: Move = (turn) => {
  const { own, deal } = turn;
  for (const escrow of escrowsOn(own, deal)) {
    const held = (own.holdings.get(escrow) ?? []).some(({ spentBy }) => spentBy === null);
    if (held) send(turn, own, make(turn, own, { verb: 'refund', escrow }));
  }
};

/** The same secret again, where another swap is agreed. */
const reuseHashlock: Move = async ({ world, side }) => {
  const used = world.deals.filter(({ id }) => id !== null).map(({ hashlock }) => hashlock);
  const open = world.deals.find(({ stage, taker, maker }) => {
    return stage === 'accept' && [taker, maker].includes(side.party);
  });
  if (used.length === 0 || open?.threadId == null) return;
  const { status, body } = await ask(world, side.party, {
    method: 'POST',
    url: `/v1/threads/${open.threadId}/accept`,
    body: { quoteAmount: open.quote.amount.toString(), hashlock: side.party.chance.pick(used) },
  });
  count(world, 'attack reused hashlock');
  if (status < 300 && body?.swap) violate(world, 'a hashlock serves once', String(body.swap.id));
};

/** Signed bytes that must be refused, or change nothing. */
const nonsense: Move = async (turn) => {
  const { world, side, deal, own, other } = turn;
  const chain = side.party.chance.pick([own, other]);
  const [escrow] = escrowsOn(chain, deal);
  const secret = side.party.chance.hex(32);
  const verb = side.party.chance.pick(['claim', 'refund', 'fund'] as const);
  const tx = make(turn, chain, { verb, escrow: escrow ?? '', secret, amount: 1_000n });
  const body = { chain: chain.chain, signed: side.party.chance.hits(0.3) ? 'zz' : rawOf(tx) };
  count(world, 'attack nonsense');
  await ask(world, side.party, { method: 'POST', url: '/v1/tx/broadcast', body });
};

/** Asks the builders for what they must not hand out. */
const tryBuilders: Move = async ({ world, side, deal, view, own }) => {
  count(world, 'attack on builders');
  const ownName = ownLeg(deal, side.role);
  const otherName = ownName === 'a' ? 'b' : 'a';
  const build = (leg: string, verb: string, body?: object) =>
    ask(world, side.party, {
      method: 'POST',
      url: `/v1/swaps/${deal.id}/legs/${leg}/${verb}`,
      ...(body && { body }),
    });
  const wrong = await build(otherName, 'claim', { secret: side.party.chance.hex(32) });
  if (wrong.status === 200) violate(world, 'no claim with a wrong secret', deal.name);
  const theirs = await build(otherName, 'refund');
  if (theirs.status === 200) violate(world, 'nobody refunds what another funded', deal.name);
  const early = clockAt(own, tipOf(own).height) + clockSlackSeconds < view.legs[ownName].timelock;
  const escrow = view.legs[ownName].escrow ?? '';
  // Of a leg that has ended, what may be left there waits for no timelock.
  const held = own.holdings.get(escrow) ?? [];
  const holds = held.length > 0 && held.every(({ spentBy }) => spentBy === null);
  const refund = await build(ownName, 'refund');
  if (refund.status === 200 && early && holds) {
    violate(world, 'no refund before its timelock', `${deal.name}, leg ${ownName}`);
  }
};

/** A reorganisation may have taken the newest blocks' times back. */
const clockSlackSeconds = 3_600;

const moves: readonly Move[] = [
  fundWrong,
  fundAny,
  takeBack,
  moveAddress,
  moveAddress,
  claimAny,
  claimAny,
  refundAny,
  reuseHashlock,
  nonsense,
  tryBuilders,
];

/** Moments at which seconds decide. */
function instantsOf(view: View): number[] {
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = view.deadlines;
  return [initiatorFundBy, counterpartyFundBy, revealBy, refundAt.a, refundAt.b];
}

export async function attack(world: World, side: Side, deal: Deal): Promise<void> {
  if (deal.id === null || isGone(world, side)) return;
  const { chance } = side.party;
  if (world.ending || chance.hits(0.55)) await followRules(world, side, deal);
  const view = deal.view;
  if (view === null || world.ending) return;
  const ownName = ownLeg(deal, side.role);
  const own = chainOf(world, view.legs[ownName].chain);
  const other = chainOf(world, view.legs[ownName === 'a' ? 'b' : 'a'].chain);
  const turn = { world, side, deal, view, own, other };
  if (chance.hits(0.6)) await chance.pick(moves)(turn);
  // At the timelock of its own leg it takes back what it can, be it claimed in that moment.
  const passed = clockAt(own, tipOf(own).height) >= view.legs[legOf(deal, 'short')].timelock;
  if (passed && chance.hits(0.5)) await refundAny(turn);
  if (passed && chance.hits(0.3)) await claimAny(turn);
  if (side.plots) return;
  side.plots = true;
  const now = seconds(world);
  const ahead = instantsOf(view).filter((each) => each > now);
  const next = ahead.length > 0 && chance.hits(0.4) ? Math.min(...ahead) - now : null;
  const after = next === null ? chance.int(120, 9_000) : next + chance.int(-90, 90);
  later(world, after, async () => {
    side.plots = false;
    await side.wake();
  });
}
