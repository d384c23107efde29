// The end of a swap: what came or came back, how long it took, the way to the same swap again, and a
// receipt.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SwapView } from '../../engine/types.ts';
import { config } from '../../market/config.ts';
import { boxHash } from '../../market/pairs.ts';
import { ownLink } from '../../parts/box-link.ts';
import { Button } from '../../parts/controls.tsx';
import { saveFile } from '../../parts/forms.tsx';
import { leftText, tookSeconds } from '../../parts/swap/progress.ts';
import { rateText, receiptOf, whyBack } from '../../parts/swap/shown.ts';
import { factsOf, sidesOf } from '../../parts/swap/situation.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import { useHere } from './here.tsx';
import { Tx } from './legs.tsx';

export function Ended() {
  const { seen, said } = useHere();
  return (
    <>
      {said.situation === 'done_refunded' && <p>{whyBack(seen.swap)}</p>}
      <Facts />
      <After />
    </>
  );
}

function Facts() {
  const { seen, said, listed } = useHere();
  const { swap } = seen;
  const isDone = said.situation === 'done_received';
  const took = tookSeconds(swap);
  const facts: readonly (readonly [key: TextKey, value: ReactNode])[] = [
    ...(isDone ? ([['settlement.done.gave', said.values.gives]] as const) : []),
    ...(isDone ? ([['settlement.done.rate', rateText(swap, listed)]] as const) : []),
    ...(took === null ? [] : ([['settlement.done.took', leftText(took)]] as const)),
    ...endsOf(swap).map(
      ({ key, txid, chain }) => [key, <Tx key={key} txid={txid} chain={chain} isNamed />] as const,
    ),
  ];
  if (facts.length === 0) return null;
  return (
    <dl className="swap-exact">
      {facts.map(([key, value]) => (
        <div key={key}>
          <dt>{text(key)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The transactions that ended both sides, as far as they are known. */
function endsOf(swap: SwapView) {
  const { own, other } = sidesOf(swap);
  return ([other, own] as const).flatMap((leg) => {
    const { claimed, refunded } = factsOf(leg);
    const found = claimed ?? refunded;
    if (found === null) return [];
    const isMine = (leg === other) === (claimed !== null);
    const key = isMine ? ('settlement.done.to_you' as const) : ('settlement.done.to_them' as const);
    return [{ key, txid: found.txid, chain: leg.chain }];
  });
}

function After() {
  const { seen, listed, isCopy } = useHere();
  const { swap } = seen;
  const { own, other } = sidesOf(swap);
  const again = boxHash(own.asset, other.asset, { of: 'give', units: own.amount });
  const receipt = () => receiptOf(swap, config.productName, listed);
  const name = `${config.shortName}-receipt-${swap.id.slice(0, 8)}.txt`;
  const open = () => {
    const url = URL.createObjectURL(new Blob([receipt()], { type: 'text/plain;charset=utf-8' }));
    window.open(url, '_blank', 'noopener');
    // The new tab has read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  return (
    <div className="actions">
      {!isCopy && (
        <Link className="button main" to="/" hash={again} onClick={() => ownLink(again)}>
          {text('settlement.again')}
        </Link>
      )}
      <Button onPress={() => saveFile(name, 'text/plain', receipt())}>
        {text('settlement.receipt.save')}
      </Button>
      <Button kind="quiet" onPress={open}>
        {text('settlement.receipt.open')}
      </Button>
    </div>
  );
}
