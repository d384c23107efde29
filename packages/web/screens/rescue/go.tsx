// Brings the swaps of a file back, says what was found, and gives claims and refunds as text.

import type { Restored } from '@parley/sdk/rescue/restore.ts';
import { Link } from '@tanstack/react-router';
import type { Ask, Engine, SwapView } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { PayoutForm } from '../../parts/payout-form.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { text } from '../../texts/texts.ts';
import { AsText } from './as-text.tsx';
import { faultOf } from './faults.ts';
import type { Opened } from './told.ts';

type GoProps = {
  readonly engine: Engine;
  readonly opened: Opened;
  readonly hasPhrase: boolean;
  readonly done: (restored: readonly Restored[]) => void;
};

export function Go({ engine, opened, hasPhrase, done }: GoProps) {
  const { chains } = engine.nodes;
  const known = useLive(chains);
  const { busy: isBusy, error, run } = useAct();
  const hasNode = (chain: string) =>
    known.some((each) => each.chain === chain && each.nodes.length > 0);
  const isRead = opened.file.swaps.map(
    ({ swap: { legs } }) => hasNode(legs.a.chain) && hasNode(legs.b.chain),
  );
  const hasNodes = isRead.includes(true);
  const { length } = opened.file.swaps;
  const count =
    length === 1 ? text('rescue.file.one') : text('rescue.file.many', { count: length });
  const go = () => run(async () => done(await engine.rescue.fromFile(opened.text)));
  return (
    <section className="panel" aria-labelledby="rescue-go">
      <h2 id="rescue-go">{text('rescue.go.title')}</h2>
      <p>{text('rescue.go.what')}</p>
      <Button
        kind="main"
        busy={isBusy}
        blocked={hasPhrase ? (hasNodes ? null : text('rescue.go.nodes')) : text('rescue.go.phrase')}
        onPress={go}
      >
        {text('rescue.go', { count })}
      </Button>
      {hasNodes && isRead.includes(false) && <p className="warn-ink">{text('rescue.go.some')}</p>}
      {isBusy && <p role="status">{text('rescue.go.searching')}</p>}
      <Fault error={error} words={faultOf} />
    </section>
  );
}

type ResultsProps = { readonly engine: Engine; readonly restored: readonly Restored[] };

export function Results({ engine, restored }: ResultsProps) {
  const { all } = engine.swaps;
  const views = useLive(all);
  if (restored.length === 0) return null;
  const ids = new Set(restored.map(({ swapId }) => swapId));
  const nameless = views.filter((each) => ids.has(each.id) && asks(each, 'name_payout'));
  const payTo = async (address: string) => {
    for (const { id } of nameless) await engine.swaps.payTo(id, address);
  };
  return (
    <section aria-labelledby="rescue-results">
      <h2 id="rescue-results">{text('rescue.result.title')}</h2>
      {nameless.length > 0 && (
        <section className="panel" aria-labelledby="rescue-payout">
          <h3 id="rescue-payout">{text('settlement.ask.payout')}</h3>
          <p className="warn-ink">{text('rescue.payout.why', { count: nameless.length })}</p>
          <PayoutForm keep={payTo} />
        </section>
      )}
      <ul className="rescue-results">
        {restored.map((each) => (
          <li key={each.swapId} className="panel">
            <Result
              engine={engine}
              restored={each}
              view={views.find(({ id }) => id === each.swapId)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function asks(view: SwapView | undefined, kind: Ask['kind']): boolean {
  return view?.asks.some((each) => each.kind === kind) ?? false;
}

/** A swap that waits for the person does not go on by itself. */
function saidOf({ outcome, why }: Restored, view: SwapView | undefined): string {
  const isHere = outcome === 'restored' || outcome === 'kept';
  if (isHere && asks(view, 'name_payout')) return text('rescue.result.nameless');
  if (isHere && (['connect_wallet', 'sign'] as const).some((kind) => asks(view, kind))) {
    return text('rescue.result.wallet');
  }
  return text(`rescue.result.${outcome}`, { why });
}

type ResultProps = {
  readonly engine: Engine;
  readonly restored: Restored;
  readonly view: SwapView | undefined;
};

function Result({ engine, restored, view }: ResultProps) {
  const { swapId: id, outcome, secret } = restored;
  const isHere = outcome === 'restored' || outcome === 'kept';
  return (
    <>
      <h3>{text('settlement.id', { id })}</h3>
      <p>{saidOf(restored, view)}</p>
      {secret === 'missing' && <p className="warn-ink">{text('rescue.result.missing')}</p>}
      {isHere && (
        <>
          <Link className="button" to="/swaps/$id" params={{ id }}>
            {text('rescue.result.look')}
          </Link>
          <AsText engine={engine} swapId={id} />
        </>
      )}
    </>
  );
}
