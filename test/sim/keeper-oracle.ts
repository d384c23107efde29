// What must hold of gas keys and of whoever relies on them, judged by the chains, by what was
// promised in answers, and by nothing else that the market says.

import {
  allMined,
  chainClock,
  heldIn,
  holdsAny,
  type Mined,
  minedAbout,
  rivalsOf,
  type SimChain,
} from './chain.ts';
import { isFundedFinal, isPublic, otherLeg, ownLeg, walletsOn } from './deals.ts';
import { type Post, reserveFee } from './gas.ts';
import type { Deal, GasSent, Side, SimKeeper, View, World } from './state.ts';
import type { SimTransaction } from './transaction.ts';
import { chainOf, count, seconds, violate } from './world.ts';

/** What a gas key sends, in the moment in which the first node has it. */
export function checkSent(
  world: World,
  { txid, tx, wasShown }: { txid: string; tx: SimTransaction; wasShown: boolean },
): void {
  world.keeper?.storing.push(mustBeStored(world, txid));
  const deal = world.deals.find(({ secret }) => secret === tx.secret);
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
  const shallow = (['a', 'b'] as const).find((name) => !isFundedFinal(world, deal, name));
  if (shallow !== undefined) {
    violate(
      world,
      'no reveal before both legs are final',
      `${deal.name} ${shallow}, by the keeper`,
    );
  }
}

async function mustBeStored(world: World, txid: string): Promise<void> {
  const text = 'select 1 from keeper_attempts where txid = $1 and sent_at is not null';
  const found = await world.real.rows({ name: 'sim_keeper_stored', text, values: [txid] });
  if (found.length === 0) violate(world, 'what a gas key sends is stored before', txid);
}

/** Nothing is signed in the place of what waits for another escrow, but to take its nonce. */
export function checkSigned(world: World, chain: SimChain, tx: SimTransaction): void {
  if (tx.verb === 'move' || tx.gas?.nonce == null) return;
  const rival = rivalsOf(chain, tx.coins).find(({ tx: other }) => other.verb !== 'move');
  if (rival === undefined || rival.tx.escrow === tx.escrow) return;
  violate(world, 'a nonce serves one escrow', `${chain.chain} ${tx.gas.nonce}: ${tx.escrow}`);
}

const minedOn = (chain: SimChain): Map<string, Mined> =>
  new Map(allMined(chain).map((each) => [each.txid, each]));

/** Whoever was promised: also of requests whose answer nobody saw. */
function wasAsked(world: World, { promised, tx }: { promised: boolean; tx: SimTransaction }) {
  const deal = world.deals.find(({ secret }) => secret === tx.secret);
  const asked = deal && world.keeper?.asked.get(deal.hashlock);
  return asked !== undefined && (asked.promised.size > 0 || (!promised && asked.open > 0));
}

const day = 86_400;

/** The key pays for gas and nothing else, and a day costs no more than it may. */
function checkFunds(world: World, post: Post, sent: readonly GasSent[]): void {
  const { chain, address, issued, dailyCap } = post;
  const mined = minedOn(chain);
  let paid = 0n;
  for (const { tx } of mined.values()) if (tx.by === address) paid += BigInt(tx.fee);
  const left = chain.balances.get(address) ?? 0n;
  if (left !== issued - paid || left < 0n) {
    violate(world, 'a gas key pays for gas alone', `${address}: ${issued} - ${paid}, has ${left}`);
  }
  const days = new Map<number, bigint>();
  for (const { txid, tx, at } of sent) {
    const found = mined.get(txid);
    if (found === undefined || tx.verb === 'move') continue;
    if (tx.verb === 'claim' && wasAsked(world, { promised: false, tx })) continue;
    const on = Math.floor(at / day);
    days.set(on, (days.get(on) ?? 0n) + BigInt(tx.fee));
  }
  for (const [on, spent] of days) {
    if (spent <= dailyCap) continue;
    violate(world, 'a day costs no more than its cap', `${chain.chain} day ${on}: ${spent}`);
  }
}

/** Of two claims that were promised to land, one nonce serves one, until nothing has taken it. */
async function checkNonces(world: World, post: Post, sent: SimKeeper['sent']): Promise<void> {
  const signed = await world.real.rows<{ txid: string; verb: string; nonce: number }>({
    name: 'sim_keeper_nonces',
    text: `select txid, verb, nonce from keeper_attempts
      where chain = $1 and address = $2 and nonce is not null order by id`,
    values: [post.chain.chain, post.address],
  });
  const owners = new Map<number, GasSent>();
  for (const { txid, verb, nonce } of signed) {
    if (verb === 'void') owners.delete(nonce);
    const each = sent.get(txid);
    if (verb !== 'claim' || each === undefined) continue;
    const { tx } = each;
    if (!wasAsked(world, { promised: true, tx })) continue;
    const other = owners.get(nonce);
    owners.set(nonce, each);
    if (other === undefined || other.tx.escrow === tx.escrow || hadNoEffect(other)) continue;
    violate(world, 'a nonce serves one relay', `${tx.chain} ${nonce}: ${tx.escrow}`);
  }
}

/** Its escrow was paid without it. */
const hadNoEffect = ({ chain, txid }: GasSent) =>
  allMined(chain).some((each) => each.txid === txid && !each.ok);

/** How the whole payment in the leg's own escrow ended. */
function endOf(world: World, view: View, name: 'a' | 'b'): Mined | null {
  const { chain, escrow, amount } = view.legs[name];
  const held = heldIn(chainOf(world, chain), escrow);
  return held.find((each) => each.amount >= BigInt(amount))?.spentBy ?? null;
}

/** What was promised lands, unless it never left. */
function checkPromises(world: World, keeper: SimKeeper, deal: Deal): void {
  const { view } = deal;
  if (view === null) return;
  for (const name of keeper.asked.get(deal.hashlock)?.promised.values() ?? []) {
    const post = keeper.posts.get(view.legs[name].chain);
    if (endOf(world, view, name)?.tx.verb === 'claim') count(world, 'relays landed');
    else if (post !== undefined && !isWithinBudget(post)) count(world, 'relays beyond any budget');
    else if (isPublic(world, deal) || world.calm) {
      violate(world, 'what was relayed lands', `${deal.name}, leg ${name}`);
    } else count(world, 'relays given up unsent');
  }
}

/** Who has sent what a leg shows. */
function checkSenders(world: World, keeper: SimKeeper, deal: Deal, view: View): void {
  for (const name of ['a', 'b'] as const) {
    const leg = view.legs[name];
    const own = keeper.posts.get(leg.chain)?.address ?? null;
    const about = minedAbout(chainOf(world, leg.chain), leg.escrow);
    for (const verb of ['claim', 'refund'] as const) {
      const [txid, by] =
        verb === 'claim' ? [leg.claimTx, leg.claimedBy] : [leg.refundTx, leg.refundedBy];
      const found = about.find((each) => each.txid === txid);
      if (found === undefined) continue;
      const wanted = found.tx.by === own ? 'keeper' : 'party';
      if (by === wanted) continue;
      violate(world, 'who sent it is told', `${deal.name} ${name}: ${verb} by ${by}, ${wanted}`);
    }
  }
}

/** Seconds since the secret was in a block that stayed; null = it never was. */
function minedAt(world: World, deal: Deal): number | null {
  const times = deal.chains.flatMap((on) => {
    const chain = chainOf(world, on);
    const all = allMined(chain).filter(({ tx }) => tx.secret === deal.secret);
    return all.map(({ height }) => chain.blocks[height]?.wall ?? 0);
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
  const own = ownLeg(deal, side.role);
  const who = `${side.party.name} of ${deal.name}`;
  const isOwn = (on: string, at: string) =>
    walletsOn(side.party, on).some(({ address }) => address === at);
  const funds = keeper.posts.get(view.legs[own].chain);
  if (funds?.funds === 'rich' && isWithinBudget(funds)) {
    const { chain, graces } = funds;
    const patience = graces.refundSeconds + chain.policy.normal.outageSeconds + 7_200;
    const late = chainClock(chain) - patience;
    for (const [escrow, { hashlock, refund, timelock }] of chain.plans) {
      if (hashlock !== deal.hashlock || !isOwn(chain.chain, refund.address)) continue;
      if (holdsAny(chain, escrow) && timelock < late) {
        violate(world, 'an expired leg goes back to its funder', `${who}: ${escrow}`);
      }
    }
  }
  const promised = otherLeg(own);
  const pays = keeper.posts.get(view.legs[promised].chain);
  const at = minedAt(world, deal);
  if (pays?.funds !== 'rich' || !isWithinBudget(pays) || at === null) return;
  const { reactSeconds, detectSeconds, normal } = pays.chain.policy;
  const needs = reactSeconds + detectSeconds + normal.settleSeconds + normal.outageSeconds;
  if (at + needs > view.legs[promised].timelock) return;
  const end = endOf(world, view, promised);
  if (end?.tx.verb === 'refund') {
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
    const sent = [...keeper.sent.values()].filter(({ chain }) => chain === post.chain);
    checkFunds(world, post, sent);
    await checkNonces(world, post, keeper.sent);
    for (const { tx, ok } of minedOn(post.chain).values()) {
      if (tx.by !== post.address) continue;
      if (!ok) count(world, 'keeper transactions without effect');
      else if (tx.verb !== 'move') count(world, `keeper ${tx.verb}s`);
    }
  }
  for (const deal of world.deals) {
    if (deal.view === null) continue;
    checkPromises(world, keeper, deal);
    checkSenders(world, keeper, deal, deal.view);
  }
  // What the cap of a day holds back waits for the next day, which may be after the end.
  const open = await world.real.rows<{ id: number; verb: string; escrow: string }>({
    name: '',
    text: `select j.id, j.verb, j.escrow from keeper_jobs j join swaps s on s.id = j.swap_id
      where j.state = 'open' and s.done and j.last_failure is distinct from 'cap'`,
    values: [],
  });
  for (const { verb, escrow } of open) {
    violate(world, 'the keeper leaves closed swaps alone', `a ${verb} of ${escrow} is open`);
  }
}
