// Bitcoin: where a claim or refund is paid, and another address in its place. The engine checks it.

import { useState } from 'react';
import { messageOf } from '../../../sdk/errors.ts';
import type { Engine, LegView, SwapView } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { text } from '../../texts/texts.ts';
import type { Shown } from './shown.ts';
import { factsOf, sidesOf } from './situation.ts';

type Props = { readonly engine: Engine; readonly swap: SwapView; readonly said: Shown };

/** While nothing of it is signed: the own leg's refund, or the other leg's claim. */
function openLeg(swap: SwapView): LegView | null {
  const { own, other } = sidesOf(swap);
  const leg = [own, other].find(({ family }) => family === 'bitcoin');
  if (leg === undefined || swap.phase === 'ended') return null;
  const { claimed, refunded } = factsOf(leg);
  return claimed === null && refunded === null ? leg : null;
}

export function PaidTo({ engine, swap, said }: Props) {
  const leg = openLeg(swap);
  const [isOpen, setOpen] = useState(false);
  // Brought back on another device: no address is kept, and nothing goes on before there is one.
  const isNeeded = swap.asks.some(({ kind }) => kind === 'name_payout');
  if (leg === null || (said.situation === 'starting' && !isNeeded)) return null;
  const key = leg.leg === swap.gives ? 'settlement.payto.refund' : 'settlement.payto';
  return (
    <section className="panel" aria-labelledby="swap-paid-to">
      <h2 id="swap-paid-to">{text(key)}</h2>
      {!isNeeded && (
        <p>
          <code className="swap-address">{leg.ownAddress}</code>
        </p>
      )}
      {isOpen || isNeeded ? (
        <Another engine={engine} swap={swap} close={isNeeded ? null : () => setOpen(false)} />
      ) : (
        <Button onPress={() => setOpen(true)}>{text('settlement.payto.change')}</Button>
      )}
    </section>
  );
}

type AnotherProps = {
  readonly engine: Engine;
  readonly swap: SwapView;
  /** null: it cannot be left out. */
  readonly close: (() => void) | null;
};

function Another({ engine, swap, close }: AnotherProps) {
  const [address, setAddress] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const keep = async () => {
    try {
      await engine.swaps.payTo(swap.id, address.trim());
      close?.();
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      <TextField
        label={text('settlement.payto.label')}
        hint={text('settlement.payto.hint')}
        error={fault}
        value={address}
        onChange={(typed) => {
          setAddress(typed);
          setFault(null);
        }}
        mono
        autoComplete="off"
        maxLength={100}
      />
      <div className="actions">
        <Button type="submit" kind="main">
          {text('settlement.payto.save')}
        </Button>
        {close !== null && <Button onPress={close}>{text('settlement.payto.leave')}</Button>}
      </div>
    </form>
  );
}
