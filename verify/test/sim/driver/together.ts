// Spends that both sides of a Taproot escrow sign: what the keys of a person sign with those of the
// other one, what the market passes on, and what a side that follows no rule makes of it. Drawn by
// itself, so that every older seed keeps its own draws.

import type { NonceStore } from '@parley/chains/bitcoin/musig.ts';
import type { CosignRequest } from '@parley/chains/interface/cosigning.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Cosign } from '@parley/sdk/generated.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import type { Cosigns } from '@parley/sdk/wallets/wallet.ts';
import { heldIn, rawOf, refusal, type SimTransaction, togetherWord, txidOf } from '../chain.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { feeToReplace } from '../node.ts';
import { offer } from './nodes.ts';
import { checkCosigned, rules } from './oracle.ts';
import { escrowOf, paidBy } from './plans.ts';
import { later, nowSeconds } from './time.ts';
import {
  asksFor,
  count,
  legNames,
  type Person,
  tell,
  termsOf,
  violate,
  type World,
} from './world.ts';

/**
 * Far from every seed that is run, and from the draws of words.ts. By it no seed of a planted bug
 * has a leg of Taproot: each still finds its bug.
 */
const seedOffset = 8_034_580_000_000;
const chanceFor = (seed: number) => chanceOf(seed + seedOffset);
const verbs = ['claim', 'refund'] as const;
type Verb = (typeof verbs)[number];

export function planTogether(seed: number): void {
  asksFor(chanceFor(seed).hits(0.5) ? { form: 'p2tr' } : {});
}

function spendOf(terms: EscrowTerms, { verb, outputs, feeSats }: CosignRequest): SimTransaction {
  const { address: escrow } = escrowOf(terms);
  const by = (verb === 'claim' ? terms.payout : terms.refund).pubkey ?? '';
  const coins = outputs.map(({ txid }) => txid);
  const fee = Number(feeSats);
  const spend = { chain: terms.chain, verb, escrow, by, coins, amount: '0', secret: null, fee };
  return { ...spend, together: togetherWord(spend) };
}

const idOf = ({ nonces }: CosignRequest) => nonces.join();

/** The keys of a person: a signature of both is the other side's word, and the own nonce. */
export function cosignsOf(world: World, person: Person): Cosigns {
  return {
    ask: async (_, { verb, outputs, feeSats, paysTo }, store) => {
      const nonces = [world.chance.hex(8)];
      const request = { verb, outputs, feeSats, paysTo, nonces };
      await store.put(idOf(request), nonces);
      count(world, `asks to ${verb} together`);
      return request;
    },
    answer: async (terms, request) => {
      checkCosigned(world, person, request.verb);
      count(world, `signs a ${request.verb} together`);
      return { nonces: ['any'], signatures: [spendOf(terms, request).together ?? ''] };
    },
    finish: async (terms, request, { signatures }, store) =>
      finished(world, spendOf(terms, request), { request, signatures, store }),
  };
}

type Finishing = {
  readonly request: CosignRequest;
  readonly signatures: readonly string[];
  readonly store: NonceStore;
};

async function finished(
  world: World,
  tx: SimTransaction,
  { request, signatures, store }: Finishing,
): Promise<Kept> {
  if (signatures[0] !== tx.together) throw new ParleyError('bad_signature', 'of something else');
  const nonces = await store.take(idOf(request));
  if (nonces === null) throw new ParleyError('nothing_there', 'the nonces are gone');
  for (const each of nonces) {
    if (world.used.has(each)) violate(world, rules.nonce, each);
    world.used.add(each);
  }
  count(world, `${tx.verb}s together`);
  const raw = rawOf(tx);
  return { raw, txid: txidOf(raw) };
}

/** As a market keeps it; whether there is what an answer is for. */
export function keepExchange(world: World, leg: LegName, { request, answer }: Cosign): boolean {
  const { exchanges } = world.market;
  if (request !== undefined) {
    const outputs = [...request.outputs];
    const kept = { ...request, outputs, nonces: [...request.nonces], at: '', answer: null };
    const id = `${leg} ${request.verb} ${request.nonces.join()}`;
    exchanges[leg] = { ...exchanges[leg], [request.verb]: { ...kept, id } };
  }
  if (answer === undefined) return true;
  const verb = verbs.find((each) => exchanges[leg][each]?.id === answer.id);
  const found = verb && exchanges[leg][verb];
  if (!verb || !found) return false;
  const { nonces, signatures } = answer;
  const given = { nonces: [...nonces], signatures: [...signatures], at: '' };
  exchanges[leg] = { ...exchanges[leg], [verb]: { ...found, answer: given } };
  world.news += 1;
  return true;
}

/** It asks for what it may not have, signs or not, and uses what it gets. */
export function rivalCosigns(world: World): void {
  const rival = world.people.find(({ kind }) => kind === 'rival');
  const isTogether = (leg: LegName) => termsOf(world, leg).form === 'p2tr';
  if (rival === undefined || !legNames.some(isTogether)) return;
  const chance = chanceFor(world.seed).fork();
  const tick = () => {
    for (const leg of legNames) if (isTogether(leg)) cosigns(world, rival, leg, chance);
    later(chance.int(5_000, 120_000), tick);
  };
  later(chance.int(0, 120_000), tick);
}

function cosigns(world: World, rival: Person, leg: LegName, chance: Chance): void {
  const terms = termsOf(world, leg);
  const { address } = escrowOf(terms);
  const own: Verb = leg === rival.gets ? 'claim' : 'refund';
  const theirs: Verb = leg === rival.gets ? 'refund' : 'claim';
  const { [own]: mine, [theirs]: asked } = world.market.exchanges[leg];
  if (asked !== null && asked.answer === null && chance.hits(0.3)) {
    const tx = spendOf(terms, requestOf(asked));
    const signatures = [chance.hits(0.3) ? 'nonsense' : (tx.together ?? '')];
    keepExchange(world, leg, { answer: { id: asked.id, nonces: ['any'], signatures } });
    count(world, `rival signs a ${theirs} together`);
  }
  if (mine?.answer && chance.hits(0.5)) uses(world, leg, spendOf(terms, requestOf(mine)));
  const payments = heldIn(world.chains[leg], address).filter(({ spentBy }) => spentBy === null);
  if (payments.length === 0 || !chance.hits(0.1)) return;
  const outputs = payments.map(({ txid, amount }) => ({ txid, vout: 0, amount: `${amount}` }));
  const fee = feeToReplace(
    world.chains[leg],
    payments.map(({ txid }) => txid),
  );
  const request = {
    escrow: address,
    verb: own,
    outputs,
    feeSats: `${fee}`,
    paysTo: paidBy(terms, own),
    nonces: [chance.hex(8)],
  };
  keepExchange(world, leg, { request });
}

function requestOf(given: NonNullable<World['market']['exchanges']['a']['claim']>): CosignRequest {
  const outputs = given.outputs.map((each) => ({ ...each, amount: BigInt(each.amount) }));
  const { verb, feeSats, paysTo, nonces } = given;
  return { verb, outputs, feeSats: BigInt(feeSats), paysTo, nonces };
}

function uses(world: World, leg: LegName, tx: SimTransaction): void {
  const chain = world.chains[leg];
  const { answer } = world.market.exchanges[leg][tx.verb === 'claim' ? 'claim' : 'refund'] ?? {};
  const isSigned = answer?.signatures[0] === tx.together;
  if (!isSigned || refusal(chain, tx, nowSeconds()) !== null) return;
  offer(world, chain, rawOf(tx));
  count(world, `rival ${tx.verb}s together`);
  tell(world, `the rival uses what both signed: ${tx.verb} of leg ${leg}`);
}
