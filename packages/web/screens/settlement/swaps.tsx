// All swaps of this browser: open ones by their next deadline, ended ones below.

import { Link } from '@tanstack/react-router';
import { use } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import { useAssets } from '../../market/answers.ts';
import { useLive } from '../../market/use-live.ts';
import { Empty, Screen } from '../../parts/page.tsx';
import { Clock, Table, useNow } from '../../parts/shown.tsx';
import { text } from '../../texts/texts.ts';
import { type SwapRow, swapRows } from './shown.ts';

export function Swaps() {
  return <SwapList engine={use(pageEngine())} />;
}

type Props = {
  engine: Engine;
  /** Whether another device could show them: not where a saved copy keeps nothing. */
  isKept?: boolean;
};

export function SwapList({ engine, isKept = true }: Props) {
  useNow();
  const { all } = engine.swaps;
  const swaps = useLive(all);
  const { data: listed = [] } = useAssets();
  const rows = swapRows(swaps, engine.now(), listed);
  const open = rows.filter(({ isOpen }) => isOpen);
  const ended = rows.filter(({ isOpen }) => !isOpen);
  const restore = (
    <Link className="button" to="/rescue">
      {text('swaps.restore')}
    </Link>
  );
  const ask = (
    <Link className="button main" to="/">
      {text('orders.empty.action')}
    </Link>
  );
  return (
    <Screen title={text('swaps.title')} aside={restore}>
      {rows.length === 0 ? (
        <Empty action={isKept ? ask : undefined}>{text('swaps.none')}</Empty>
      ) : (
        <>
          <h2>{text('swaps.open')}</h2>
          {open.length === 0 ? <p>{text('swaps.none_open')}</p> : <Rows rows={open} what="open" />}
          {ended.length > 0 && (
            <>
              <h2>{text('swaps.ended')}</h2>
              <Rows rows={ended} what="ended" />
            </>
          )}
        </>
      )}
      {isKept && <p className="hint">{text('swaps.only_here')}</p>}
    </Screen>
  );
}

function Rows({ rows, what }: { rows: readonly SwapRow[]; what: 'open' | 'ended' }) {
  return (
    <Table
      caption={text(`swaps.${what}`)}
      rows={rows}
      columns={[
        {
          label: text('swaps.swap'),
          cell: ({ id, name }) => (
            <Link to="/swaps/$id" params={{ id }}>
              {name}
            </Link>
          ),
        },
        { label: text('swaps.status'), cell: ({ status }) => status },
        {
          label: text('swaps.deadline'),
          cell: ({ deadline }) =>
            deadline === null ? text('swaps.no_deadline') : <Clock at={deadline} />,
        },
      ]}
    />
  );
}
