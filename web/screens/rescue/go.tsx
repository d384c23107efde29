// Brings the swaps of a file back, says what was found, and gives claims and refunds as text.

import { Link } from '@tanstack/react-router';
import { useState, useSyncExternalStore } from 'react';
import type { Restored } from '../../../sdk/rescue/restore.ts';
import type { Engine } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
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
  const known = useSyncExternalStore(chains.subscribe, chains.now);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const hasNodes = opened.file.chains.every(({ chain }) =>
    known.some((each) => each.chain === chain && each.nodes.length > 0),
  );
  const { length } = opened.file.swaps;
  const count =
    length === 1 ? text('rescue.file.one') : text('rescue.file.many', { count: length });
  const go = async () => {
    setBusy(true);
    setFault(null);
    try {
      done(await engine.rescue.fromFile(opened.text));
    } catch (error) {
      setFault(faultOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="panel" aria-labelledby="rescue-go">
      <h2 id="rescue-go">{text('rescue.go.title')}</h2>
      <p>{text('rescue.go.what')}</p>
      <Button
        kind="main"
        busy={isBusy}
        blocked={hasPhrase ? (hasNodes ? null : text('rescue.go.nodes')) : text('rescue.go.phrase')}
        onPress={() => void go()}
      >
        {text('rescue.go', { count })}
      </Button>
      {isBusy && <p role="status">{text('rescue.go.searching')}</p>}
      {fault !== null && (
        <p role="alert" className="bad-ink">
          {fault}
        </p>
      )}
    </section>
  );
}

type ResultsProps = { readonly engine: Engine; readonly restored: readonly Restored[] };

export function Results({ engine, restored }: ResultsProps) {
  if (restored.length === 0) return null;
  return (
    <section aria-labelledby="rescue-results">
      <h2 id="rescue-results">{text('rescue.result.title')}</h2>
      <ul className="rescue-results">
        {restored.map((each) => (
          <li key={each.swapId} className="panel">
            <Result engine={engine} restored={each} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Result({ engine, restored }: { readonly engine: Engine; readonly restored: Restored }) {
  const { swapId: id, outcome, why, secret } = restored;
  const isHere = outcome === 'restored' || outcome === 'kept';
  return (
    <>
      <h3>{text('settlement.id', { id })}</h3>
      <p>{text(`rescue.result.${outcome}`, { why })}</p>
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
