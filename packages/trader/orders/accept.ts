// Accepts an offer of an order as the SDK does: examined by own nodes, pins and terms, once the
// wallets have what it gives.

import { accept } from '@parley/sdk/agree.ts';
import type { OwnAsset } from '../assets.ts';
import { examined, planOf, type Shortage, shortages, walletsOn } from '../deal.ts';
import { needsYou } from '../failures.ts';
import type { Session, SignedIn, Unlocked } from '../session.ts';
import { sidesOf } from '../sides.ts';
import type { Offer } from './offers.ts';
import { directionOf, type Order } from './order.ts';

export type Accepting = {
  readonly session: Session;
  readonly signed: SignedIn;
  readonly own: Unlocked;
  /** Base units that other orders of this process have promised and not funded. */
  readonly promised: (own: OwnAsset) => bigint;
  /** Shows it, and asks where a person is to be asked. Throws Failure `declined`. */
  readonly confirm: (plan: readonly string[]) => Promise<void>;
};

/** Throws Failure `lacking` before anything binds. */
export async function acceptOffer(
  { session, signed, own, promised, confirm }: Accepting,
  { side, base, baseAmount, quote }: Order,
  { thread, price }: Offer,
  binding: () => Promise<void>,
): Promise<void> {
  const terms = { party: 'taker', direction: directionOf(side), baseAmount } as const;
  const assets = { base, quote };
  const found = await examined(session, signed, own, { thread, price, assets, terms });
  const sides = sidesOf(found.trade, assets);
  const wallets = await walletsOn(own, sides);
  const short = await shortages(session, sides, wallets, promised(sides.gives.own));
  mustSuffice(short);
  const plan = planOf(found, sides, wallets, session.now());
  await confirm([...plan, ...short.map(({ text }) => `lacking   ${text}`)]);
  await binding();
  await accept({ ...found.dealing, store: own.store });
}

function mustSuffice(short: readonly Shortage[]): void {
  const stops = short.filter((each) => each.stops).map(({ text }) => text);
  if (stops.length === 0) return;
  throw needsYou('lacking', `${stops.join('; ')}: nothing was accepted`);
}

/** Before makers are asked the wallet must have what a sale gives. Throws Failure `lacking`. */
export async function mustHold(
  { session, own, promised }: Pick<Accepting, 'session' | 'own' | 'promised'>,
  { side, base, baseAmount, quote }: Order,
): Promise<void> {
  // The price of a purchase is not known yet, and its bound may be a loose one.
  if (side === 'buy') return;
  const sides = { gives: { own: base, amount: baseAmount }, gets: { own: quote, amount: 1n } };
  const wallets = await walletsOn(own, sides);
  mustSuffice(await shortages(session, sides, wallets, promised(base)));
}
