// A party that follows the rules: it reads the swap, does what next[] offers it, and nothing else.
// A greedy one waits with funding and revealing until the last moment, and may then let it be. An
// absent one is gone from some moment on, a sleepy one for a while. Where there are gas keys it has
// the keeper send its claim, or relies on it and vanishes once its secret is public.

import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import { relayLeadSeconds } from '@parley/watchtower/bounds.ts';
import { rawOf, refusal, releaseWord, type SimTransaction, txidOf } from './chain.ts';
import type { Post } from './gas.ts';
import { insideOf } from './material.ts';
import { feeToReplace, unsignedFunding } from './node.ts';
import { checkRead } from './oracle.ts';
import { ask, askedOf, mayPass, post } from './people.ts';
import { signedClaims } from './presigned.ts';
import { sendDirect } from './servers.ts';
import {
  chainOf,
  count,
  type Deal,
  type Habits,
  isDrilled,
  isPublic,
  later,
  type Side,
  type StepView,
  seconds,
  stir,
  tell,
  type View,
  violate,
  type World,
  wakeIn,
  walletsOn,
} from './world.ts';

/** One side of a swap, as it acts. */
export type Seat = { readonly world: World; readonly side: Side; readonly deal: Deal };
export type Seen = Seat & { readonly view: View };

/** By then the refund of the long leg would be mined. */
const backAfterSeconds = 6 * 3_600;
/** After a step was taken, it is not taken again before this. */
const patienceSeconds = 900;
const order = ['claim', 'refund', 'set_address', 'fund'];

export function isGone(world: World, side: Side): boolean {
  const now = seconds(world);
  if (world.ending || side.goneAt === null || now < side.goneAt) return false;
  return side.backAt === null || now < side.backAt;
}

const whenPublic = ['initiator_claimed', 'counterparty_claimed', 'refunded', 'half_settled'];

export async function readSwap({ world, side, deal }: Seat): Promise<View | null> {
  const wasTold = deal.revealed || (deal.view?.secret ?? null) !== null;
  const answer = await ask(world, side.party, { url: `/v1/swaps/${deal.id}` });
  if (answer.status !== 200) {
    wakeIn(world, side, world.chance.int(20, 120));
    return null;
  }
  const view = answer.body as View;
  if (wasTold && view.secret === null) violate(world, 'a secret seen is seen for ever', deal.name);
  if (view.secret !== null && !whenPublic.includes(view.status)) {
    violate(world, 'statuses match the chains', `${deal.name} ${view.status}, with its secret`);
  }
  checkRead(world, deal, view);
  deal.view = view;
  for (const { escrow } of [view.legs.a, view.legs.b]) if (escrow) deal.escrows.add(escrow);
  return view;
}

/** The steps that a plan leaves undone while the secret is not public. */
const leaves: Readonly<Record<string, string>> = {
  revealLate: 'claim',
  claimBehind: 'claim',
  pastDeadlines: 'claim',
  underpay: 'fund',
};

/** With a plan it keeps to them until it is to reveal. */
export async function followRules(seat: Seat, plan = ''): Promise<void> {
  const { world, side, deal } = seat;
  if (deal.id === null || isGone(world, side)) return;
  const view = await readSwap(seat);
  if (view === null || vanishes({ ...seat, view })) return;
  if (world.drill?.leaves && (await leavesClaims({ ...seat, view }))) return;
  if (mayWish({ ...seat, view })) return wish({ ...seat, view });
  const mine = view.next.filter(({ by }) => by === side.role);
  const withheld = view.secret === null ? (leaves[plan] ?? null) : null;
  const open = mine.filter(({ action }) => action !== 'wait' && action !== withheld);
  for (const step of open.sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action))) {
    await take({ ...seat, view }, step);
  }
  const now = seconds(world);
  for (const { before } of mine) {
    if (before === null || before < now) continue;
    // A deadline's change is visible only after it.
    wakeOnce(world, side, `after ${before}`, before - now + 60);
  }
}

/** True: it is away, or cannot leave its claims yet. */
async function leavesClaims({ world, side, deal, view }: Seen): Promise<boolean> {
  const pays = paidLeg(side, view);
  const { chain, escrow, status, timelock } = view.legs[pays];
  if (!isDrilled(world, deal) || side.role !== 'counterparty') return false;
  if (side.busyUntil.has('left')) {
    if (view.legs[otherLeg(pays)].status === 'unfunded' || side.goneAt !== null) return false;
    side.goneAt = seconds(world);
    side.backAt = timelock + backAfterSeconds;
    later(world, side.backAt - side.goneAt, () => side.wake());
    count(world, 'payee away');
    tell(world, `${side.party.name} is away until ${side.backAt}`);
    return true;
  }
  if (status !== 'funded') return false;
  const transactions = signedClaims(chainOf(world, chain), escrow);
  if (transactions.length === 0) return false;
  const url = `/v1/swaps/${deal.id}/legs/${pays}/claim/scheduled`;
  const answer = await post(world, side.party, url, {
    body: { transactions },
    once: `claims ${seconds(world)}`,
  });
  tell(world, `${side.party.name} leaves its claims: ${answer.code ?? answer.status}`);
  if (answer.status === 200) side.busyUntil.set('left', Number.POSITIVE_INFINITY);
  else wakeIn(world, side, world.chance.int(20, 120));
  return answer.status !== 200;
}

function wakeOnce(world: World, side: Side, name: string, after: number): void {
  const until = side.busyUntil.get(name) ?? 0;
  if (until > seconds(world)) return;
  side.busyUntil.set(name, seconds(world) + after);
  later(world, after, () => side.wake());
}

async function take(seen: Seen, step: StepView): Promise<void> {
  const { world, side, deal, view } = seen;
  const { action, leg, before } = step;
  const former = /\?escrow=(\S+)/.exec(step.why)?.[1] ?? null;
  const name = `${action} ${leg} ${former ?? ''}`;
  const rest = (side.busyUntil.get(name) ?? 0) - seconds(world);
  if (rest > 0) {
    if (rest <= patienceSeconds) wakeIn(world, side, rest + world.chance.int(1, 60));
    return;
  }
  const waits = side.party.kind === 'greedy' && !world.ending && view.secret === null;
  if (waits && before !== null && (action === 'fund' || action === 'claim')) {
    const left = before - seconds(world);
    if (left > 90) return wakeOnce(world, side, `last moment ${name}`, left - 60);
    if (side.party.chance.hits(0.15)) {
      side.goneAt = null;
      side.busyUntil.set(name, Number.POSITIVE_INFINITY);
      tell(world, `${side.party.name} lets ${name} of ${deal.name} be`);
      return;
    }
  }
  side.busyUntil.set(name, seconds(world) + patienceSeconds);
  if (action === 'set_address') return setAddress(seen, step);
  if (action === 'claim' && (await relayed(seen, leg, name))) return;
  const query = former === null ? '' : `?escrow=${former}`;
  const secret = view.secret ?? deal.secret;
  const answer = await post(
    world,
    side.party,
    `/v1/swaps/${deal.id}/legs/${leg}/${action}${query}`,
    { once: `${name} ${seconds(world)}`, ...bodyOf(action, secret) },
  );
  if (answer.status !== 200) {
    if (action === 'claim' && view.secret !== null && answer.code === 'sources_disagree') {
      violate(world, 'a public secret waits for no source', deal.name);
    }
    tell(world, `${side.party.name} may not ${name} ${deal.name}: ${answer.code ?? answer.status}`);
    side.busyUntil.delete(name);
    wakeIn(world, side, mayPass(answer) ? world.chance.int(20, 120) : 600);
    return;
  }
  if (action === 'release') return release(seen, step, answer.body.material);
  mustBeInTime(seen, step);
  const material = answer.body as Material & { validUntil: number };
  const { validUntil } = material;
  const tx = signed(seen, step, material);
  // Some bytes live a minute only.
  const delay = Math.min(300, Math.max(1, validUntil - seconds(world)));
  later(world, world.chance.int(1, delay), () => hand(seen, { tx, name, validUntil }));
}

/** One party of some swaps gives it up, at some point: by its id, which draws nothing. */
function mayWish({ world, side, deal, view }: Seen): boolean {
  const digits = Number.parseInt(`${deal.id}`.slice(-4), 16);
  const isOfSide = (digits & 1) === (side.role === 'initiator' ? 0 : 1);
  const statuses = ['agreed', 'initiator_funded', 'counterparty_funded', 'counterparty_funded'];
  const isMoment = view.status === statuses[(digits >> 1) & 3];
  const isDrawn = !world.calm && ((digits >> 3) & 7) === 0 && isOfSide && isMoment;
  const pays = paidLeg(side, view);
  const claims = side.busyUntil.get(`claim ${pays} `) ?? 0;
  const isSpent = view.legs[pays].claimTx !== null || view.legs[pays].refundTx !== null;
  // Its claim may be on its way, or with the keeper.
  const isTold = view.secret !== null || claims > 0 || side.habits?.relays === true;
  return isDrawn && !isTold && !isSpent && view.legs[pays].release === null;
}

async function wish(seen: Seen): Promise<void> {
  const { world, side, deal, view } = seen;
  const pays = paidLeg(side, view);
  const path = `/v1/swaps/${deal.id}/legs/${pays}/release`;
  const answer = await post(world, side.party, path, { body: {}, once: `wish ${seconds(world)}` });
  tell(world, `${side.party.name} gives ${deal.name} up: ${answer.code ?? answer.status}`);
  count(world, 'swap given up');
  wakeIn(world, side, world.chance.int(20, 120));
}

/** Signs and gives the word that the market asks for, or sends it on Solana. */
async function release(seen: Seen, step: StepView, material: ReleaseMaterial | null) {
  const { world, side, deal, view } = seen;
  const { leg } = step;
  if (material === null) return;
  count(world, 'leg released');
  if (material.sign === 'solana-tx') {
    const { validUntil } = material as ReleaseMaterial & { readonly validUntil: number };
    return hand(seen, { tx: signed(seen, step, material), name: `release ${leg} `, validUntil });
  }
  const signature = releaseWord(`${view.legs[leg].payoutAddress}`, material.escrow);
  const path = `/v1/swaps/${deal.id}/legs/${leg}/release`;
  const how = { body: { signature }, once: `release ${seconds(world)}` };
  const answer = await post(world, side.party, path, how);
  tell(
    world,
    `${side.party.name} releases leg ${leg} of ${deal.name}: ${answer.code ?? answer.status}`,
  );
}

/** The handed-out material is held against the deadlines that the swap publishes. */
function mustBeInTime({ world, deal, view }: Seen, { action, by }: StepView): void {
  const { initiatorFundBy, counterpartyFundBy, revealBy } = view.deadlines;
  const isLate = (last: number) => seconds(world) > last;
  if (action === 'fund' && isLate(by === 'initiator' ? initiatorFundBy : counterpartyFundBy)) {
    violate(world, 'no funding after its last moment', deal.name);
  }
  if (action === 'claim' && !isPublic(world, deal) && isLate(revealBy)) {
    violate(world, 'no reveal after its last moment', deal.name);
  }
}

async function setAddress({ world, side, deal, view }: Seen, step: StepView): Promise<void> {
  const { chain } = view.legs[step.leg];
  const wallet = walletsOn(side.party, chain)[0];
  const answer = await post(world, side.party, `/v1/swaps/${deal.id}/address`, {
    body: { chain, address: wallet?.pubkey ?? wallet?.address },
    once: `address ${chain} ${seconds(world)}`,
  });
  tell(world, `${side.party.name} says its address on ${chain}: ${answer.code ?? answer.status}`);
  if (answer.status === 200) return stir(world, deal);
  side.busyUntil.delete(`${step.action} ${step.leg} `);
  wakeIn(world, side, world.chance.int(20, 120));
}

/** The wallet's signature of the material; it signs nothing that is not its own. */
function signed(
  { world, side, view }: Seen,
  { leg, action }: StepView,
  material: Material,
): SimTransaction {
  const { chain, amount } = view.legs[leg];
  const own = walletsOn(side.party, chain);
  const inside = insideOf(material);
  if (inside === null) {
    const refund = { address: own[0]?.address ?? '', pubkey: null };
    const funding = { refund, amount: BigInt(amount) };
    const nonce = side.party.chance.hex(8);
    return unsignedFunding(chainOf(world, chain), material.escrow, funding, nonce);
  }
  if (!own.some(({ address, pubkey }) => inside.by === address || inside.by === pubkey)) {
    violate(world, 'a builder names its own caller', `${action} by ${inside.by}`);
  }
  return inside;
}

function bodyOf(action: string, secret: string | null): { readonly body?: object } {
  if (action === 'claim') return { body: { secret } };
  return action === 'release' ? { body: {} } : {};
}

const soonestBump = 3_600;
const latestBump = 90_000;

/** It sees no payment yet and pays again, too little for a block; that comes much later. */
function payAgain({ world, side }: Seat, tx: SimTransaction): void {
  const { party } = side;
  const chain = chainOf(world, tx.chain);
  const name = `pays ${tx.escrow} again`;
  if (side.busyUntil.has(name) || party.kind !== 'hasty' || chain.family !== 'bitcoin') return;
  side.busyUntil.set(name, Number.POSITIVE_INFINITY);
  const again = { ...tx, coins: [`coin-${party.chance.hex(8)}`], fee: 0 };
  const send = (sent: SimTransaction) => {
    if (refusal(chain, sent, seconds(world)) !== null) return false;
    sendDirect(world, chain, sent);
    return true;
  };
  later(world, party.chance.int(1, 600), () => {
    if (world.ending || !send(again)) return;
    count(world, 'funding paid twice');
    tell(world, `${party.name} ${name}, with no fee`);
    const first = txidOf(rawOf(again));
    later(world, party.chance.int(soonestBump, latestBump), () => {
      if (chain.mempool.has(first)) send({ ...again, fee: feeToReplace(chain, again.coins) });
    });
  });
}

type Handed = { readonly tx: SimTransaction; readonly name: string; readonly validUntil: number };

/** Sends it, by the market or by a node of its own, and again while that is allowed. */
async function hand(seat: Seat, handed: Handed): Promise<void> {
  const { world, side, deal } = seat;
  const { tx, name, validUntil } = handed;
  const { party } = side;
  if (isGone(world, side)) return;
  if (seconds(world) > validUntil) {
    tell(world, `${party.name} is too late to send ${name}`);
    side.busyUntil.delete(name);
    return side.wake();
  }
  // A revealing party stays until its claim counts: a block may forget it.
  if (tx.verb === 'claim' && party.kind === 'sleepy') side.goneAt = null;
  const chain = chainOf(world, tx.chain);
  const own = tx.verb === 'fund' && chain.family === 'bitcoin' ? 0.5 : 0.15;
  if (!world.calm && party.chance.hits(own)) {
    if (refusal(chain, tx, seconds(world)) === null) {
      sendDirect(world, chain, tx);
      tell(world, `${party.name} sends ${name} of ${deal.name} itself`);
    }
  } else {
    const raw = rawOf(tx);
    const about = { body: { chain: tx.chain, signed: raw }, once: `send ${txidOf(raw)}` };
    const answer = await post(world, party, '/v1/tx/broadcast', about);
    const { status, code } = answer;
    const why = code === 'refused_by_node' ? ` (${answer.body?.error})` : '';
    tell(world, `${party.name} sends ${name} of ${deal.name}: ${code ?? status}${why}`);
    world.hasNews = true;
    if (mayPass(answer)) {
      later(world, world.chance.int(20, 90), () => hand(seat, handed));
      return;
    }
    if (status !== 200) side.busyUntil.delete(name);
  }
  if (tx.verb === 'fund') payAgain(seat, tx);
  wakeIn(world, side, patienceSeconds + world.chance.int(1, 120));
}

export function habitsOf({ keeper, calm }: World, { party, role }: Side): Habits {
  if (keeper === null) return { relays: false, late: false, vanishes: null };
  const { chance } = keeper;
  const relays = role === 'initiator' && party.kind !== 'malicious' && chance.hits(0.5);
  const after = chance.pick(['funded', 'public', 'public', 'public', null, null] as const);
  const late = !calm && chance.hits(0.3);
  return { relays, late, vanishes: !calm && party.kind === 'honest' ? after : null };
}

function postOf(world: World, view: View, leg: LegName): Post | null {
  return world.keeper?.posts.get(view.legs[leg].chain) ?? null;
}

export function paidLeg({ role }: Side, view: View): LegName {
  const short = view.legs.a.timelock < view.legs.b.timelock ? 'a' : 'b';
  return role === 'initiator' ? short : otherLeg(short);
}

/** It has done its part, and leaves the rest to the keeper. */
function vanishes({ world, side, deal, view }: Seen): boolean {
  const after = side.habits?.vanishes ?? null;
  const pays = paidLeg(side, view);
  const own = otherLeg(pays);
  const isTime = after === 'public' ? view.secret !== null : view.legs[own].status === 'funded';
  if (after === null || !isTime || world.ending) return false;
  // An initiator that leaves before has shown nothing, and needs its refund alone.
  const needed = after === 'public' ? [pays] : side.role === 'initiator' ? [own] : [own, pays];
  if (needed.some((leg) => postOf(world, view, leg)?.funds !== 'rich')) return false;
  side.goneAt = seconds(world);
  count(world, 'keeper parties vanished');
  tell(world, `${side.party.name} vanishes: ${after} is ${deal.name}`);
  return true;
}

/** Before the last moment in which a relay is taken. */
const lastSeconds = 60;
/** After so many refusals it finds some coins and sends its claim itself. */
const mostRefusals = 4;

/** True: the claim is in the hands of the keeper, or will be asked for again. */
async function relayed({ world, side, deal, view }: Seen, leg: LegName, name: string) {
  if (side.habits?.relays !== true || view.secret !== null) return false;
  if (postOf(world, view, leg) === null) return false;
  if (askedOf(world, deal.hashlock).refused >= mostRefusals) return false;
  const again = (after: number) => {
    side.busyUntil.delete(name);
    wakeIn(world, side, after);
    return true;
  };
  if (!world.ending && side.habits.waits?.()) return again(world.chance.int(5, 30));
  if (side.habits.late && !world.ending) {
    const { family } = chainOf(world, view.legs[leg].chain);
    const lead = relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
    const left = view.deadlines.revealBy - seconds(world) - lead;
    if (left > lastSeconds) return again(left - world.chance.int(5, lastSeconds));
  }
  const answer = await post(world, side.party, `/v1/swaps/${deal.id}/legs/${leg}/claim`, {
    once: `relay ${deal.name} ${seconds(world)}`,
    body: { secret: deal.secret, relay: true },
  });
  tell(world, `${side.party.name} asks to relay ${deal.name}: ${answer.code ?? answer.status}`);
  world.hasNews = true;
  return answer.status === 200 || again(world.chance.int(20, 120));
}
