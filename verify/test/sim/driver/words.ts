// Words of people who give the swap up: when a person wants to, what the market keeps of it, and
// what the other side makes of it where it follows no rule. Drawn by itself, so that every older
// seed keeps its own draws.

import type { LegName } from '@parley/core/trade.ts';
import type { SwapLeg } from '@parley/sdk/types.ts';
import { rawOf, refusal, releaseWord, type SimTransaction } from '../chain.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { offer } from './nodes.ts';
import { escrowOf } from './plans.ts';
import { later, nowMs, nowSeconds } from './time.ts';
import { count, escrowsOf, type Person, recordOf, tell, termsOf, type World } from './world.ts';

/** Far from every seed that is run, and from the draws of more-faults.ts. */
const apart = 7e12;
const hourMs = 3_600_000;

export type Word = NonNullable<SwapLeg['release']>;

export function planWords(world: World): void {
  const chance = chanceOf(world.seed + apart);
  const { people, times, agreedAt, calm } = world;
  for (const person of people) {
    if (person.kind === 'rival') rivalSpeaks(world, person, chance.fork());
    else if (chance.hits(calm ? 0.25 : 0.3)) planWish(world, person, chance);
  }
  if (world.market.kind === 'lying') liesOfWords(world, chance.fork(), times.refundAt.a - agreedAt);
}

function planWish(world: World, person: Person, chance: Chance): void {
  const { times, agreedAt, after, calm } = world;
  const moment = chance.pick(['any', 'a', 'b', 'b'] as const);
  const isLost = !calm && chance.hits(0.4);
  const lossMs = chance.int(0, hourMs);
  const wish = (waitMs: number) => {
    person.givesUpAtMs = nowMs() + waitMs;
    if (isLost) later(waitMs + lossMs, () => loseDevice(person));
  };
  const spanMs = moment === 'any' ? (times.revealBy - agreedAt) * 1_000 : hourMs;
  const waitMs = chance.int(0, spanMs);
  if (moment === 'any') wish(waitMs);
  else after[moment].push(() => wish(waitMs));
}

/** The device that knows of the word is gone. */
function loseDevice(person: Person): void {
  person.isLost = true;
  person.callsLeft = 1;
}

/** The first of each stays, as in a market. */
export function keepWord({ market }: World, leg: LegName, signature: string | null): void {
  const { askedAt = nowSeconds(), at = null, signature: given = null } = market.words[leg] ?? {};
  const when = at ?? (signature === null ? null : nowSeconds());
  market.words[leg] = { askedAt, at: when, signature: given ?? signature };
}

/**
 * As the market shows it to a person who is cheated. A restored device has nobody else to ask
 * whether it has given up.
 */
export function wordFor(world: World, person: Person, leg: LegName): Word | null {
  const { market } = world;
  const isOwn = leg === person.gets && recordOf(person, world.swapId)?.restored === true;
  switch (isOwn ? null : market.wordLie) {
    case 'hides':
      return null;
    case 'wish':
      return { askedAt: nowSeconds(), at: null, signature: null };
    case 'nonsense':
      return { askedAt: 1, at: 1, signature: 'nobody gives this up' };
    case null:
      return market.words[leg];
  }
}

function liesOfWords(world: World, chance: Chance, seconds: number): void {
  later(chance.int(0, seconds) * 1_000, () => {
    if (world.isHealed) return;
    world.market.wordLie = chance.pick(['hides', 'wish', 'nonsense', null]);
    if (world.market.wordLie !== null) count(world, 'market lies of a release');
    liesOfWords(world, chance, seconds);
  });
}

/** It wishes, releases, and takes its own back by the driver's word, in any order. */
function rivalSpeaks(world: World, rival: Person, chance: Chance): void {
  const { gets, gives } = rival;
  const tick = () => {
    const terms = termsOf(world, gets);
    const { address } = escrowOf(terms);
    if (chance.hits(0.02)) keepWord(world, gets, null);
    if (chance.hits(0.02)) {
      count(world, 'rival releases');
      tell(world, `the rival releases leg ${gets}`);
      const word = releaseWord(terms.payout.address, address);
      if (world.chains[gets].family === 'solana') sendRelease(world, gets, word, chance);
      else keepWord(world, gets, word);
    }
    if (chance.hits(0.5)) {
      const word = world.market.words[gives]?.signature ?? null;
      if (word !== null) sendRelease(world, gives, word, chance);
    }
    later(chance.int(20_000, 240_000), tick);
  };
  later(chance.int(0, 240_000), tick);
}

function sendRelease(world: World, leg: LegName, release: string, chance: Chance): void {
  const chain = world.chains[leg];
  for (const [escrow, terms] of escrowsOf(world, leg)) {
    if (release !== releaseWord(terms.payout.address, escrow)) continue;
    const by = terms.refund.address;
    const coins = [`coin-${chance.hex(6)}`];
    const spend = { chain: chain.chain, verb: 'refund', escrow, by, coins, amount: '0' } as const;
    const tx: SimTransaction = { ...spend, secret: null, fee: chain.feeFloor + 3, release };
    const isOpen = chain.holdings.get(escrow)?.some(({ spentBy }) => spentBy === null) ?? false;
    if (!isOpen || refusal(chain, tx, nowSeconds()) !== null) continue;
    offer(world, chain, rawOf(tx));
    count(world, 'rival uses a release');
  }
}
