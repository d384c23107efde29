// The kill switch of a simulated market: an operator halts chains and assets and lifts that again,
// by the functions of `npm run halt`, while parties trade and settle. In half of the markets that
// have no drill, and drawn from a random stream of its own.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../../server/db/database.ts';
import { haltAsset, haltChain, resumeAsset, resumeChain } from '../../server/market/halts.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Drill } from './drills.ts';
import type { Asset } from './negotiate.ts';
import { type Answer, type Ask, askPlainly, type Deal, type Party } from './people.ts';
import { unlessDead } from './process.ts';
import { aServer, noteDeaths } from './servers.ts';
import { isKeptAsItWas } from './streams.ts';
import { count, later, tell, violate, type World } from './world.ts';

/** What is halted, and from when to when it surely is, milliseconds; null = not yet. */
type Spell = {
  readonly chain: ChainKey;
  /** Null: the whole chain. */
  readonly assetId: string | null;
  from: number | null;
  until: number | null;
};

export type SimHalts = { readonly chance: Chance; readonly spells: Spell[] };

/** What keeps them apart from all else that is drawn from a seed. */
const ownStream = 2 ** 42;

export function haltsOf(about: {
  readonly seed: number;
  readonly calm: boolean;
  readonly drill: Drill | null;
}): SimHalts | null {
  const { seed, calm, drill } = about;
  const chance = chanceOf(seed + ownStream);
  if (calm || drill !== null || isKeptAsItWas(seed) || !chance.hits(0.5)) return null;
  return { chance, spells: [] };
}

/** Most of what is agreed on is agreed on within an hour, and settled within a few. */
const whens = [
  { from: 0, to: 900, lasts: [60, 300, 1_200] },
  { from: 900, to: 9_000, lasts: [1_800, 21_600, Number.POSITIVE_INFINITY] },
] as const;

export function planHalts(world: World, assets: readonly Asset[]): void {
  const { halts } = world;
  if (halts === null) return;
  const { chance } = halts;
  const targets = assets.flatMap(({ id, chain }) => [
    { chain, assetId: null },
    { chain, assetId: id },
  ]);
  for (let left = chance.int(1, 3); left > 0; left -= 1) {
    const [target] = targets.splice(chance.int(0, targets.length - 1), 1);
    const { from, to, lasts } = chance.pick(whens);
    const spell: Spell = { ...(target as (typeof targets)[number]), from: null, until: null };
    halts.spells.push(spell);
    const length = chance.pick(lasts);
    later(world, chance.int(from, to), () => halt(world, spell, length));
  }
}

const nameOf = ({ chain, assetId }: Spell) => (assetId === null ? chain : `the asset of ${chain}`);

/** An operator tries until it is done. */
const againSeconds = 45;

async function halt(world: World, spell: Spell, lasts: number): Promise<void> {
  const { chain, assetId } = spell;
  const { halts } = world;
  if (halts === null) return;
  const [reason, at] = ['as drawn', new Date(world.nowMs)];
  const isDone = await operate(world, (tx) =>
    assetId === null
      ? haltChain(tx, { chain, reason, at })
      : haltAsset(tx, assetId, { reason, at }),
  );
  if (!isDone) return later(world, againSeconds, () => halt(world, spell, lasts));
  spell.from = world.nowMs;
  count(world, 'halts');
  tell(world, `an operator halts ${nameOf(spell)}`);
  if (lasts !== Number.POSITIVE_INFINITY) later(world, lasts, () => lift(world, spell));
  later(world, halts.chance.int(1, soonSeconds), () => moveHalted(world, halts, spell));
}

/** Before the shortest halt is lifted. */
const soonSeconds = 50;

/** Where the price of something halted is agreed on, somebody moves it, to the same. */
async function moveHalted(world: World, { chance }: SimHalts, spell: Spell): Promise<void> {
  const open = world.deals.filter((deal) => deal.threadId !== null && deal.id === null);
  for (const deal of open.filter((each) => isTouched(each, spell))) {
    const { rfqId, threadId, taker, maker, quote, name } = deal;
    const [party, url] = chance.pick([
      [maker, `/v1/rfqs/${rfqId}/quotes`],
      [maker, `/v1/threads/${threadId}/propose`],
      [taker, `/v1/threads/${threadId}/propose`],
    ] as const);
    const body = { quoteAmount: quote.amount.toString() };
    const { status, code } = await askPlainly(world, party, { method: 'POST', url, body });
    count(world, 'halts met by a new price');
    tell(world, `${party.name} moves the price of ${name}: ${code ?? status}`);
  }
}

function isTouched({ chains, base, quote }: Deal, { chain, assetId }: Spell): boolean {
  return assetId === null ? chains.includes(chain) : [base.id, quote.id].includes(assetId);
}

async function lift(world: World, spell: Spell): Promise<void> {
  const { chain, assetId } = spell;
  spell.until ??= world.nowMs;
  const at = new Date(world.nowMs);
  const isDone = await operate(world, (tx) =>
    assetId === null ? resumeChain(tx, chain, at) : resumeAsset(tx, assetId, at),
  );
  if (!isDone) return later(world, againSeconds, () => lift(world, spell));
  count(world, 'halts lifted');
  tell(world, `an operator lifts the halt of ${nameOf(spell)}`);
}

async function operate(world: World, work: (tx: Tx) => Promise<unknown>): Promise<boolean> {
  const market = aServer(world)?.process ?? null;
  if (market === null) return false;
  try {
    const done = await unlessDead(market, () => market.deps.db.transaction(work));
    if (done !== 'dead') return true;
    noteDeaths(world);
  } catch (error) {
    tell(world, `a halt fails: ${(error as Error).message.slice(0, 60)}`);
  }
  return false;
}

/** What parties that follow the rules are refused with anyway: by time, nodes and each other. */
const ordinary = new Set([
  ...['already_funded', 'already_claimed', 'already_refunded', 'nothing_there', 'escrow_moved'],
  ...['not_fundable_yet', 'not_both_funded', 'former_escrow_funded', 'material_expired'],
  ...['too_late_to_fund', 'too_late_to_reveal', 'too_early_to_refund', 'addresses_fixed'],
  ...['relay_unavailable', 'refused_by_node', 'bad_fee_rate', 'bad_transaction'],
]);

/** What was agreed goes on in every part. */
export function checkGoesOn(
  world: World,
  party: Party,
  asked: Ask,
  answer: Answer & { readonly excused: boolean },
): void {
  const { url, body } = asked;
  const { code, excused } = answer;
  const isOfSwap = url.startsWith('/v1/swaps') || url.startsWith('/v1/tx');
  if (!isOfSwap || code === null) return;
  const deal = world.deals.find(({ id }) => id !== null && url.includes(id));
  const { chain } = (body ?? {}) as { chain?: unknown };
  const stand = world.halts?.spells.filter(({ from, until }) => from !== null && until === null);
  const isHalted = stand?.some((spell) =>
    deal === undefined ? spell.chain === chain : isTouched(deal, spell),
  );
  const followsRules = party.kind !== 'malicious';
  const isNew = isHalted && followsRules && !excused && !ordinary.has(code);
  if (code === 'asset_closed' || isNew) {
    violate(world, 'a halt leaves swaps alone', `${url}: ${code}`);
  }
}

type Made = {
  readonly what: string;
  readonly id: string;
  readonly base: string;
  readonly quote: string;
  readonly at: Date;
};

/** Nothing new touches what is halted. */
export async function checkHalts(world: World): Promise<void> {
  const { halts } = world;
  if (halts === null) return;
  const made = await world.real.rows<Made>({
    name: '',
    text: `with new as (
        select 'RFQ' as what, id, id as rfq_id, created_at as at from rfqs
        union all select 'quote', id, rfq_id, created_at from threads
        union all select 'price', t.id, t.rfq_id, (m ->> 'at')::timestamptz
          from threads t, jsonb_array_elements(t.messages) m
        union all select 'swap', s.id, t.rfq_id, s.created_at
          from swaps s join threads t on t.id = s.thread_id)
      select n.what, n.id, r.base_asset_id as base, r.quote_asset_id as quote, n.at
      from new n join rfqs r on r.id = n.rfq_id`,
    values: [],
  });
  const chains = new Map(
    world.deals.flatMap(({ base, quote, chains: [ofBase, ofQuote] }) => [
      [base.id, ofBase],
      [quote.id, ofQuote],
    ]),
  );
  for (const { from, until, chain, assetId } of halts.spells) {
    if (from === null) continue;
    const isHalted = (asset: string) =>
      asset === assetId || (assetId === null && chains.get(asset) === chain);
    for (const { what, id, base, quote, at } of made) {
      const during = at.getTime() > from && at.getTime() < (until ?? Number.POSITIVE_INFINITY);
      if (!during || ![base, quote].some(isHalted)) continue;
      violate(world, 'nothing new on what is halted', `${what} ${id}`);
    }
  }
}
