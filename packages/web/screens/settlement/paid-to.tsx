// Bitcoin: where a claim or refund is paid, and another address in its place. The engine checks it.

import { has } from '@parley/core/families.ts';
import { useState } from 'react';
import type { Engine, LegView, SwapView } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
import { PayoutForm } from '../../parts/payout-form.tsx';
import { text } from '../../texts/texts.ts';
import type { Shown } from './shown.ts';
import { askOf, factsOf, type Situation, sidesOf } from './situation.ts';

type Props = { readonly engine: Engine; readonly swap: SwapView; readonly said: Shown };

/** A leg that is collected or received is refunded no more. */
const isPaid: readonly Situation[] = ['collecting', 'received'];

/** While nothing of it is signed: the own leg's refund, or the other leg's claim. */
function openLeg(swap: SwapView, situation: Situation): LegView | null {
  const { own, other } = sidesOf(swap);
  const leg = [own, other].find(({ family }) => has(family, 'coins'));
  if (leg === undefined || swap.phase === 'ended' || isPaid.includes(situation)) return null;
  const { claimed, refunded } = factsOf(leg);
  return claimed === null && refunded === null ? leg : null;
}

export function PaidTo({ engine, swap, said }: Props) {
  const leg = openLeg(swap, said.situation);
  const [isOpen, setOpen] = useState(false);
  // A swap that was brought back has no known address, and it is not read before it has one.
  const isAsked = askOf(swap, 'name_payout') !== null;
  if (leg === null || (said.situation === 'starting' && !isAsked)) return null;
  const key = leg.leg === swap.gives ? 'settlement.payto.refund' : 'settlement.payto';
  const keep = async (address: string) => {
    await engine.swaps.payTo(swap.id, address);
    setOpen(false);
  };
  return (
    <section className="panel" aria-labelledby="swap-paid-to">
      <h2 id="swap-paid-to">{text(key)}</h2>
      {!isAsked && (
        <p>
          <code className="swap-address">{leg.ownAddress}</code>
        </p>
      )}
      {isAsked && <PayoutForm keep={keep} />}
      {!isAsked && isOpen && <PayoutForm keep={keep} leave={() => setOpen(false)} />}
      {!isAsked && !isOpen && (
        <Button onPress={() => setOpen(true)}>{text('settlement.payto.change')}</Button>
      )}
    </section>
  );
}
