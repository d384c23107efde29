// One person that runs the SDK's own driver, over nodes, a market and a store of this world. Its
// process may die at any call; then it begins again by what is kept, by an older copy of it, or by
// its phrase alone.

import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { ChainSource, Chains } from '@parley/sdk/chains.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import type { Progress, SettleInput } from '@parley/sdk/settle.ts';
import {
  mayBeFunded,
  readKept,
  type Store,
  type SwapRecord,
  writeKept,
} from '@parley/sdk/stores/store.ts';
import type { ChainView, OwnTrade } from '@parley/sdk/trade.ts';
import type { Wallet } from '@parley/sdk/wallets/wallet.ts';
import { rawOf, type SimChain } from '../chain.ts';
import { unsignedFunding } from '../node.ts';
import { driverOf } from './drivers.ts';
import { marketFor } from './market.ts';
import { type Alive, inTurn, nodeAdapter, offer } from './nodes.ts';
import { checkEnd, checkSent, isAtRisk } from './oracle.ts';
import { simEvm, simTron } from './plans.ts';
import { later, nowMs, nowSeconds, wait } from './time.ts';
import { cosignsOf } from './together.ts';
import {
  count,
  destinationOf,
  legNames,
  type Person,
  recordIn,
  recordOf,
  tell,
  type World,
} from './world.ts';

type Life = {
  readonly over: AbortController;
  isDead: boolean;
  news: number;
  idleMs: number;
};

class Died extends Error {}

function die(life: Life): Died {
  life.isDead = true;
  const died = new Died('its process died');
  life.over.abort(died);
  return died;
}

/** Each call may be the last one, done or not. */
function aliveIn(world: World, person: Person, life: Life): Alive {
  return async (work) => {
    if (life.isDead) throw new Died('its process died');
    person.callsLeft -= 1;
    const isLast = person.callsLeft <= 0;
    if (isLast && world.chance.hits(0.5)) throw die(life);
    const answer = await work();
    if (isLast) throw die(life);
    if (life.isDead) throw new Died('its process died');
    return answer;
  };
}

function storeFor(person: Person, alive: Alive): Store {
  const { kept } = person;
  return {
    putSecret: (hashlock, secret) => alive(async () => void kept.secrets.set(hashlock, secret)),
    getSecret: (hashlock) => alive(async () => kept.secrets.get(hashlock) ?? null),
    putTrade: (trade) => alive(async () => void kept.trades.set(trade.threadId, writeKept(trade))),
    getTrade: (id) =>
      alive(async () => {
        const text = kept.trades.get(id);
        return text === undefined ? null : readKept<OwnTrade>(text);
      }),
    putSwap: (record) =>
      alive(async () => {
        person.former.push(new Map(kept.swaps));
        kept.swaps.set(record.swap.id, writeKept(record));
      }),
    getSwap: (id) => alive(async () => recordIn(kept.swaps, id)),
    swapIds: () => alive(async () => [...kept.swaps.keys()]),
    putNonces: (id, nonces) => alive(async () => void kept.nonces.set(id, nonces)),
    takeNonces: (id) =>
      alive(async () => {
        const nonces = kept.nonces.get(id) ?? null;
        kept.nonces.delete(id);
        return nonces;
      }),
  };
}

export function viewOf({ chain, family, policy }: SimChain): ChainView {
  switch (family) {
    case 'evm':
      return { family, chain, policy, chainId: 31_337, deployment: simEvm };
    case 'bitcoin':
      return { family, chain, policy, network: bitcoinNetworks.regtest };
    case 'tron':
      return { family, chain, policy, deployment: simTron };
    case 'solana':
      return { family, chain, policy, deployment: solanaDeployment };
  }
}

function sourceFor(world: World, person: Person, leg: LegName, alive: Alive): ChainSource {
  const nodes = person.nodes[leg].map((each) => nodeAdapter(each, { world, alive }));
  const all = inTurn(nodes);
  const adapter: typeof all = {
    ...all,
    broadcast: async (sent, signal) => {
      checkSent(world, person, sent.raw);
      return all.broadcast(sent, signal);
    },
  };
  const source = { view: viewOf(world.chains[leg]), adapter };
  return nodes.length < 2 ? source : { ...source, nodes };
}

function inputFor(world: World, person: Person, life: Life): SettleInput {
  const alive = aliveIn(world, person, life);
  const chains: Record<string, Chains[string]> = {};
  for (const leg of legNames) {
    const { chain, family } = world.chains[leg];
    const home = destinationOf(person.party, leg, family, 0);
    const cosigns = cosignsOf(world, person);
    const wallet = { family, ...home, world, person, cosigns } as unknown as Wallet;
    chains[chain] = { source: sourceFor(world, person, leg, alive), wallet };
  }
  const market = marketFor(world, person, alive);
  const broadcast: typeof market.broadcast = async (chain, signed, how) => {
    checkSent(world, person, String(signed));
    return market.broadcast(chain, signed, how);
  };
  return {
    swapId: world.swapId,
    trade: person.trade,
    chains,
    signal: life.over.signal,
    client: { ...market, broadcast },
    store: storeFor(person, alive),
    now: async () => nowSeconds() + person.ahead,
    scheduleRefunds: false,
    pause: (_, signal) => rest(world, person, life, signal),
    givesUp: () => wants(person, life),
    onProgress: (progress) => hear(world, person, progress),
  };
}

/** It is said once, to the process of that moment: after its death only what was kept counts. */
function wants(person: Person, life: Life): boolean {
  if (nowMs() < person.givesUpAtMs) return false;
  person.saidTo ??= life;
  return person.saidTo === life;
}

/** Looks often while something happens, and seldom otherwise; never later than it has to react. */
const soonMs = [15_000, 40_000, 90_000, 200_000] as const;
const mostMs = 400_000;

function rest(world: World, person: Person, life: Life, signal?: AbortSignal): Promise<void> {
  const isNew = life.news !== world.news;
  life.news = world.news;
  life.idleMs = isNew ? world.chance.pick(soonMs) : Math.min(mostMs, life.idleMs * 2);
  const isAsleep = person.kind === 'sleepy' && world.chance.hits(0.02);
  const ms = isAsleep ? world.chance.int(1, 12) * 3_600_000 : life.idleMs;
  if (isAsleep) tell(world, `${person.role} sleeps`);
  return new Promise((resolve, reject) => {
    const timer = later(ms, resolve);
    const end = () => {
      timer.work = null;
      reject(signal?.reason);
    };
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

const told =
  /^(state|funded|claimed|refunded|released|cancelled|evidence|ended|verified|pay_by_hand)$/;

function hear(world: World, person: Person, { step, leg, text }: Progress): void {
  if (told.test(step)) tell(world, `${person.role} ${step} ${leg ?? ''}: ${text}`);
  if (step === 'evidence') {
    for (const [kind, words] of doubts) if (text.includes(words)) count(world, kind);
  }
  if (step === 'market_lied') count(world, 'lie of a market heard');
  if (step === 'pay_by_hand' && !person.hasPaid) payByHand(world, person);
}

const doubts = [
  ['doubt: a node behind', 'behind another one'],
  ['doubt: a chain stands', 'older than now'],
  ['doubt: an answer refused', 'denies what was seen'],
  ['doubt: nodes disagree', 'show an escrow differently'],
  ['doubt: a node ahead', 's newer than now'],
  ['doubt: a node silent', 'does not answer;'],
] as const;

/** By another wallet, some minutes later; or never. */
function payByHand(world: World, person: Person): void {
  person.hasPaid = true;
  if (world.chance.hits(0.1)) {
    count(world, 'never paid by hand');
    return;
  }
  const last = fundBy({ deadlines: world.times }, { long: person.gives === 'b' }) - nowSeconds();
  const isLate = world.chance.hits(0.4) && last > 900;
  const seconds = isLate ? last - world.chance.int(5, 300) : world.chance.int(10, 900);
  later(seconds * 1_000, () => {
    const record = recordOf(person, world.swapId);
    const escrow = record?.swap.legs[person.gives].escrow;
    const by = fundBy({ deadlines: world.times }, { long: person.gives === 'b' });
    if (!escrow || nowSeconds() > by) return;
    const chain = world.chains[person.gives];
    const tx = unsignedFunding(chain, escrow.address, escrow.terms, world.chance.hex(6));
    checkSent(world, person, rawOf(tx));
    offer(world, chain, rawOf(tx));
    count(world, 'paid by hand');
  });
}

/** It knows of the own funding, of its word, and where the legs are. */
const isSameButSeen = (one: SwapRecord, other: SwapRecord) =>
  mayBeFunded(one) === mayBeFunded(other) &&
  (one.givenUp === undefined) === (other.givenUp === undefined) &&
  legNames.every((leg) => {
    return one.swap.legs[leg].escrow?.address === other.swap.legs[leg].escrow?.address;
  });

/** Copies that a store may be rolled back to. */
const mostOlder = 6;

/** As a phrase gives it back to another device. */
function restored(person: Person, { swapId }: World): Person['kept'] {
  const { kept } = person;
  const record = recordOf(person, swapId);
  if (record === null) return kept;
  const { trade, swap, former } = record;
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  // A driver in another language keeps its own text of it.
  const { python } = record as { python?: string };
  const own = { ...(former && { former }), ...(python && { python }) };
  const again: SwapRecord = { trade, swap, ...none, restored: true, ...own };
  return { ...kept, nonces: new Map(), swaps: new Map([[swapId, writeKept(again)]]) };
}

function comeBack(world: World, person: Person): void {
  const { chance } = world;
  const how = chance.int(1, 10);
  count(world, 'process died');
  // One that does not know of the own funding any more would have to be restored.
  const last = recordOf(person, world.swapId);
  const older = person.former.slice(-mostOlder).filter((swaps) => {
    const record = recordIn(swaps, world.swapId);
    return record !== null && last !== null && isSameButSeen(record, last);
  });
  if (how === 1 && !person.isLost && older.length > 0) {
    person.kept = { ...person.kept, swaps: new Map(chance.pick(older)) };
    count(world, 'store rolled back');
    tell(world, `${person.role} comes back with an older copy of its store`);
  } else if (how === 2 || person.isLost) {
    person.isLost = false;
    person.kept = restored(person, world);
    count(world, 'restored from the phrase');
    tell(world, `${person.role} comes back by its phrase`);
  }
}

/** Until it ends, or is gone for good. `deaths`: after so many calls each. */
export async function live(world: World, person: Person, deaths: number[]): Promise<void> {
  const { chance } = world;
  for (;;) {
    const life: Life = { over: new AbortController(), isDead: false, news: -1, idleMs: 15_000 };
    person.callsLeft = deaths.shift() ?? Number.POSITIVE_INFINITY;
    try {
      const outcome = await driverOf(world, person)(inputFor(world, person, life));
      person.end = outcome.end;
      person.endedAtMs = nowMs();
      return checkEnd(world, person, outcome);
    } catch (error) {
      if (!life.isDead) {
        const code = codeOf(error) ?? 'an error';
        count(world, `a person is called: ${code}`);
        tell(world, `${person.role} is called: ${code}: ${messageOf(error)}`);
        if (mayGiveUp(world, person)) {
          person.end = 'gave up';
          return;
        }
      } else {
        tell(world, `${person.role}'s process dies`);
        if (person.kind === 'absent' && deaths.length === 0) return;
        comeBack(world, person);
      }
    }
    await wait(chance.int(5, 600) * 1_000);
  }
}

/** The person's own leg may not be paid any more, and was not. */
function mayGiveUp(world: World, person: Person): boolean {
  const record = recordOf(person, world.swapId);
  const isBegun = record !== null && (mayBeFunded(record) || record.restored === true);
  const isLate = nowMs() / 1_000 > world.times.counterpartyFundBy;
  return isLate && !isBegun && !isAtRisk(world, person);
}
