// The market of one swap as one person hears it: honest, flaky, or in league with the other side.
// It may lie about escrows, deadlines and the secret, refuse, hang, and die.

import { fundBy } from '@parley/core/gates.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { Cosign } from '@parley/sdk/generated.ts';
import { legShown, swapShown } from '@parley/sdk/testing/honest.ts';
import type { Swap } from '@parley/sdk/types.ts';
import { materialOf } from '../material.ts';
import { unsignedFunding } from '../node.ts';
import { type Alive, offer } from './nodes.ts';
import { escrowOf } from './plans.ts';
import { later, nowMs, nowSeconds } from './time.ts';
import { keepExchange } from './together.ts';
import { keepWord, wordFor } from './words.ts';
import { count, legNames, type Person, termsOf, type World } from './world.ts';

type Given = { readonly signature?: string | null };
type How = { readonly signal?: AbortSignal };

const refusal = (status: number, code: string, message: string) =>
  new ParleyApiError({ status, code, message });

async function answers({ market, chance }: World, { signal }: How): Promise<void> {
  if (nowMs() >= market.diesAtMs) throw refusal(0, 'no_answer', 'the market is gone');
  if (market.kind === 'honest' || !chance.hits(0.25)) return;
  if (chance.hits(0.3)) await hang(signal);
  throw refusal(503, 'unavailable', 'not now');
}

/** The client's own. */
const clientLimitMs = 30_000;

function hang(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((_, reject) => {
    const end = () => reject(signal?.reason);
    later(clientLimitMs, () => reject(refusal(0, 'no_answer', 'the market does not answer')));
    signal?.addEventListener('abort', end, { once: true });
  });
}

function swapFor(world: World, person: Person): Swap {
  const { market, chains, times, secret, swapId } = world;
  const isCheated = person.kind !== 'rival';
  const leg = (name: LegName) => {
    const moved = isCheated ? market.moved[name] : 0;
    const terms = termsOf(world, name, { counter: market.counters[name], moved });
    const { policy } = chains[name];
    const about = { assetId: `asset-${name}`, depth: policy.normal.confirmations };
    const shown = legShown(name, terms, escrowOf(terms), about);
    return { ...shown, release: isCheated ? wordFor(world, person, name) : market.words[name] };
  };
  const showing = { id: swapId, legs: { a: leg('a'), b: leg('b') }, deadlines: times, next: [] };
  const swap = swapShown(person.trade, secret, world.agreedAt, showing);
  const isPublic = legNames.some((each) => chains[each].shown.size > 0);
  const known = isPublic && market.lie !== 'nothing' ? { ...swap, secret } : swap;
  if (market.lie === 'secret') return { ...known, secret: '00'.repeat(32) };
  if (market.lie !== 'deadlines') return known;
  return { ...known, deadlines: { ...times, initiatorFundBy: times.initiatorFundBy + 3_600 } };
}

export function marketFor(world: World, person: Person, alive: Alive): ParleyClient {
  const { market, chains, chance } = world;
  const asked = <R>(how: How, work: () => R): Promise<R> =>
    alive(async () => {
      await answers(world, how);
      if (market.lie !== null) count(world, 'market lies');
      return work();
    });
  const client = {
    baseUrl: 'http://simulated.invalid',
    productName: 'simulated',
    swap: (_: string, how: How = {}) => asked(how, () => swapFor(world, person)),
    status: (how: How = {}) => asked(how, () => ({ chains: [] })),
    fund: (_: string, leg: LegName, how: How = {}) =>
      asked(how, () => {
        if (nowSeconds() > fundBy({ deadlines: world.times }, { long: leg === 'b' })) {
          throw refusal(409, 'too_late_to_fund', 'too late');
        }
        const isGivenUp = (market.words.a ?? market.words.b) !== null;
        if (isGivenUp && market.kind !== 'lying') throw refusal(409, 'given_up', 'given up');
        market.fixed.add(leg);
        const moved = market.moved[leg];
        const terms = termsOf(world, leg, { counter: market.counters[leg], moved });
        const { address } = escrowOf(terms);
        const tx = unsignedFunding(chains[leg], address, terms, chance.hex(6));
        return { ...materialOf(chains[leg].family, tx, nowSeconds()), validUntil: null };
      }),
    announceClaim: (_: string, leg: LegName, how: How = {}) =>
      asked(how, () => {
        const swap = swapFor(world, person);
        if (swap.legs[leg].release !== null) throw refusal(409, 'given_up', 'given up');
        market.announced.add(leg);
        return swap;
      }),
    release: (_: string, leg: LegName, { signature = null }: Given, how: How = {}) =>
      asked(how, () => {
        if (market.announced.has(leg) && market.kind !== 'lying') {
          throw refusal(409, 'not_releasable', 'its secret was shown');
        }
        keepWord(world, leg, signature);
        world.news += 1;
        count(world, signature === null ? 'wish' : 'release');
        return { swap: swapFor(world, person), material: null };
      }),
    cosign: (_: string, leg: LegName, body: Cosign, how: How = {}) =>
      asked(how, () => {
        const known = chains.a.shown.size + chains.b.shown.size > 0;
        const { request } = body;
        const isOpen = request?.verb === 'claim' ? known : market.words[leg] !== null;
        if (request && !isOpen && market.kind !== 'lying') {
          throw refusal(409, 'not_releasable', 'not now');
        }
        if (!keepExchange(world, leg, body)) throw refusal(409, 'nothing_there', 'no such request');
        const isHidden = person.kind !== 'rival' && market.wordLie === 'hides';
        return { exchange: isHidden ? { claim: null, refund: null } : market.exchanges[leg] };
      }),
    broadcast: (chain: string, raw: string, how: How = {}) =>
      asked(how, () => {
        // One that lies keeps it to itself, and to whom it is in league with.
        if (market.kind === 'lying') return { txid: '' };
        return { txid: offer(world, chains.a.chain === chain ? chains.a : chains.b, raw) };
      }),
  };
  return client as unknown as ParleyClient;
}
