// The conditions for gas keys and for whoever relies on them, judged by the chains, by what was
// promised in answers, and by nothing else that the market says.

import { otherLeg } from '@parley/core/trade.ts';
import {
  allMined,
  chainClock,
  holdsAny,
  type Mined,
  minedAbout,
  rivalsOf,
  type SimChain,
  type SimTransaction,
} from './chain.ts';
import { type Post, reserveFee } from './gas.ts';
import { endOf } from './oracle.ts';
import {
  chainOf,
  count,
  type Deal,
  type GasSent,
  isPublic,
  ownLeg,
  type Side,
  type SimKeeper,
  seconds,
  shallowLeg,
  sql,
  type View,
  violate,
  type World,
  walletsOn,
} from './world.ts';

/** Checks a gas key's transaction, in the moment in which the first node has it. */
export function checkSent(world: World, txid: string, tx: SimTransaction, wasShown: boolean): void {
  world.keeper?.storing.push(mustBeStored(world, txid));
  const deal = dealOf(world, tx);
  if (deal === undefined || wasShown || tx.verb !== 'claim') return;
  if (deal.chains.some((on) => on !== tx.chain && chainOf(world, on).shown.has(deal.hashlock))) {
    return;
  }
  const asked = world.keeper?.asked.get(deal.hashlock);
  if (asked === undefined || (asked.open === 0 && asked.promised.size === 0)) {
    violate(world, 'no secret is public because of a refused relay', deal.name);
  }
  const { view } = deal;
  if (view === null) return;
  if (seconds(world) > view.deadlines.revealBy) {
    violate(world, 'no reveal after its last moment', `${deal.name}, by the keeper`);
  }
  const shallow = shallowLeg(world, deal, (leg) => [view.legs[leg].escrow ?? '']);
  if (shallow === undefined) return;
  const what = `${deal.name} ${shallow}, by the keeper`;
  violate(world, 'no reveal before both legs are final', what);
}

const dealOf = ({ deals }: World, tx: SimTransaction) =>
  deals.find(({ secret }) => secret === tx.secret);

async function mustBeStored(world: World, txid: string): Promise<void> {
  const text = 'select 1 from keeper_attempts where txid = $1 and sent_at is not null';
  const found = await sql(world.real, text, [txid]);
  if (found.length === 0) violate(world, 'what a gas key sends is stored before', txid);
}

/** A key replaces a transaction that waits for another escrow only to take its nonce. */
export function checkSigned(world: World, chain: SimChain, tx: SimTransaction): void {
  if (tx.verb === 'move' || tx.gas?.nonce == null) return;
  const rival = rivalsOf(chain, tx.coins).find(({ tx: other }) => other.verb !== 'move');
  if (rival === undefined || rival.tx.escrow === tx.escrow) return;
  violate(world, 'a nonce serves one escrow', `${chain.chain} ${tx.gas.nonce}: ${tx.escrow}`);
}

/** Whether a relay was promised. */
function wasAsked(world: World, tx: SimTransaction): boolean {
  const deal = dealOf(world, tx);
  const asked = deal && world.keeper?.asked.get(deal.hashlock);
  return asked !== undefined && asked.promised.size > 0;
}

const day = 86_400;

/** The key pays for gas and nothing else, and a day costs no more than it may. */
function checkFunds(world: World, { chain, address, issued, dailyCap }: Post, keeper: SimKeeper) {
  const mined = new Map(allMined(chain).map((each) => [each.txid, each]));
  let paid = 0n;
  for (const { tx, ok } of mined.values()) {
    if (tx.by !== address) continue;
    paid += BigInt(tx.fee);
    if (!ok) count(world, 'keeper transactions without effect');
    else if (tx.verb !== 'move') count(world, `keeper ${tx.verb}s`);
  }
  const left = chain.balances.get(address) ?? 0n;
  if (left !== issued - paid || left < 0n) {
    violate(world, 'a gas key pays for gas alone', `${address}: ${issued} - ${paid}, has ${left}`);
  }
  const days = new Map<number, bigint>();
  for (const { chain: on, txid, tx, at } of keeper.sent.values()) {
    if (on !== chain || !mined.has(txid) || tx.verb === 'move') continue;
    const of = Math.floor(at / day);
    days.set(of, (days.get(of) ?? 0n) + BigInt(tx.fee));
  }
  for (const [of, spent] of days) {
    if (spent <= dailyCap) continue;
    violate(world, 'a day costs no more than its cap', `${chain.chain} day ${of}: ${spent}`);
  }
}

/** One nonce serves one of two claims that were promised to land, until it is taken. */
async function checkNonces(world: World, { chain, address }: Post, { sent }: SimKeeper) {
  const signed = await sql<{ txid: string; verb: string; nonce: number }>(
    world.real,
    `select txid, verb, nonce from keeper_attempts
      where chain = $1 and address = $2 and nonce is not null order by id`,
    [chain.chain, address],
  );
  // Where its escrow was paid without it.
  const hadNoEffect = ({ txid }: GasSent) =>
    allMined(chain).some((each) => each.txid === txid && !each.ok);
  const owners = new Map<number, GasSent>();
  for (const { txid, verb, nonce } of signed) {
    if (verb === 'void') owners.delete(nonce);
    const each = sent.get(txid);
    if (verb !== 'claim' || each === undefined || !wasAsked(world, each.tx)) continue;
    const other = owners.get(nonce);
    owners.set(nonce, each);
    if (other === undefined || other.tx.escrow === each.tx.escrow || hadNoEffect(other)) continue;
    violate(world, 'a nonce serves one relay', `${chain.chain} ${nonce}: ${each.tx.escrow}`);
  }
}

/** A promised transaction lands, unless it never left. */
function checkPromises(world: World, keeper: SimKeeper, deal: Deal, view: View): void {
  for (const name of keeper.asked.get(deal.hashlock)?.promised.values() ?? []) {
    const post = keeper.posts.get(view.legs[name].chain);
    if (endOf(world, view, name)?.tx.verb === 'claim') count(world, 'relays landed');
    else if (post !== undefined && !isWithinBudget(post)) count(world, 'relays beyond any budget');
    else if (isPublic(world, deal) || world.calm) {
      violate(world, 'what was relayed lands', `${deal.name}, leg ${name}`);
    } else count(world, 'relays given up unsent');
  }
}

/** Checks the sender of each transaction that a leg shows. */
function checkSenders(world: World, keeper: SimKeeper, deal: Deal, view: View): void {
  for (const name of ['a', 'b'] as const) {
    const leg = view.legs[name];
    const own = keeper.posts.get(leg.chain)?.address ?? null;
    const about = minedAbout(chainOf(world, leg.chain), leg.escrow);
    for (const [verb, txid, by] of [
      ['claim', leg.claimTx, leg.claimedBy],
      ['refund', leg.refundTx, leg.refundedBy],
    ] as const) {
      const found = about.find((each) => each.txid === txid);
      const wanted = found?.tx.by === own ? 'keeper' : 'party';
      if (found === undefined || by === wanted) continue;
      violate(world, 'who sent it is told', `${deal.name} ${name}: ${verb} by ${by}, ${wanted}`);
    }
  }
}

/** When the secret was first in a block that stayed; null = it never was. */
function minedAt(world: World, deal: Deal): number | null {
  const wallOf = (chain: SimChain, { height }: Mined) => chain.blocks[height]?.wall ?? 0;
  const times = deal.chains.flatMap((on) => {
    const chain = chainOf(world, on);
    const all = allMined(chain).filter(({ tx }) => tx.secret === deal.secret);
    return all.map((each) => wallOf(chain, each));
  });
  return times.length === 0 ? null : Math.min(...times);
}

/** Fees beyond what a gas key keeps for 99.9 % of times are beyond what anybody is owed. */
const isWithinBudget = ({ chain }: Post) => chain.feeFloor <= reserveFee;

/** Gone for good, it is served by the keeper alone: before it comes back at the end. */
function checkAbsent(world: World, keeper: SimKeeper, deal: Deal, side: Side): void {
  const { view } = deal;
  const gone = side.goneAt !== null && side.backAt === null && seconds(world) >= side.goneAt;
  if (view === null || !gone || side.party.kind === 'malicious') return;
  const who = `${side.party.name} of ${deal.name}`;
  const own = ownLeg(deal, side.role);
  const able = (leg: 'a' | 'b') => {
    const post = keeper.posts.get(view.legs[leg].chain);
    return post?.funds === 'rich' && isWithinBudget(post) ? post : null;
  };
  const funds = able(own);
  if (funds !== null) {
    const { chain, graces } = funds;
    const patience = graces.refundSeconds + chain.policy.normal.outageSeconds + 7_200;
    const late = chainClock(chain) - patience;
    const wallets = walletsOn(side.party, chain.chain).map(({ address }) => address);
    for (const [escrow, { hashlock, refund, timelock }] of chain.plans) {
      const isOwn = hashlock === deal.hashlock && wallets.includes(refund.address);
      if (!isOwn || timelock >= late || !holdsAny(chain, escrow)) continue;
      violate(world, 'an expired leg goes back to its funder', `${who}: ${escrow}`);
    }
  }
  const promised = otherLeg(own);
  const pays = able(promised);
  const at = minedAt(world, deal);
  if (pays === null || at === null) return;
  const { reactSeconds, detectSeconds, normal } = pays.chain.policy;
  const needs = reactSeconds + detectSeconds + normal.settleSeconds + normal.outageSeconds;
  const isInTime = at + needs <= view.legs[promised].timelock;
  if (isInTime && endOf(world, view, promised)?.tx.verb === 'refund') {
    violate(world, 'an absent party is paid once its secret is public', who);
  }
}

/** Before faults end and whoever was gone comes back. */
export function checkKept(world: World): void {
  const { keeper, deals } = world;
  if (keeper === null) return;
  for (const deal of deals) for (const side of deal.sides) checkAbsent(world, keeper, deal, side);
}

/** When all is over. */
export async function checkKeeper(world: World): Promise<void> {
  const { keeper } = world;
  if (keeper === null) return;
  await Promise.all(keeper.storing);
  for (const post of keeper.posts.values()) {
    checkFunds(world, post, keeper);
    await checkNonces(world, post, keeper);
  }
  for (const deal of world.deals) {
    if (deal.view === null) continue;
    checkPromises(world, keeper, deal, deal.view);
    checkSenders(world, keeper, deal, deal.view);
  }
  // A job over the cap of a day waits for the next day, which may be after the end.
  const open = await sql<{ verb: string; escrow: string }>(
    world.real,
    `select j.verb, j.escrow from keeper_jobs j join swaps s on s.id = j.swap_id
      where j.state = 'open' and s.done and j.last_failure is distinct from 'cap'`,
  );
  for (const { verb, escrow } of open) {
    violate(world, 'the keeper leaves closed swaps alone', `a ${verb} of ${escrow} is open`);
  }
}
