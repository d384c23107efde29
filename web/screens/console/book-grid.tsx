// The book as a list that is walked by keys: one row has the focus, Enter opens its quote.

import { memo } from 'react';
import {
  formatAmount,
  formatPrice,
  isoTime,
  localTime,
  parseIsoTime,
} from '../../../sdk/people.ts';
import type { Thread } from '../../../sdk/types.ts';
import { now } from '../../market/clock.ts';
import { assetName } from '../../parts/names.ts';
import { text } from '../../texts/texts.ts';
import { type Row, rowByKey } from './rows.ts';

/** Of amounts in a list; all of them are on the panel of the quote. */
const mostDecimals = 6;

export type BookGridProps = {
  readonly rows: readonly Row[];
  /** One's own threads, by the id of their RFQ. */
  readonly quotes: ReadonlyMap<string, Thread>;
  /** The row that Tab leads to. */
  readonly active: string | null;
  /** Whose quote is open. */
  readonly opened: string | null;
  readonly onActive: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onFresh: () => void;
};

export const rowId = (id: string) => `request-${id}`;

export function BookGrid(props: BookGridProps) {
  const { rows, quotes, active, opened, onActive, onOpen, onFresh } = props;
  const tabbed = rows.some((row) => row.rfq.id === active) ? active : rows[0]?.rfq.id;
  return (
    // biome-ignore-start lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is walked by keys.
    <table
      role="grid"
      aria-label={text('console.book')}
      className="table book-grid"
      onKeyDown={(event) => {
        const { key } = event;
        if (key.toLowerCase() === 'n' && !event.ctrlKey && !event.metaKey) return onFresh();
        if (key === 'Enter' && tabbed !== null && tabbed !== undefined) {
          event.preventDefault();
          return onOpen(tabbed);
        }
        const next = rowByKey(rows, tabbed ?? null, key);
        if (next === null) return;
        event.preventDefault();
        onActive(next);
        document.getElementById(rowId(next))?.focus();
      }}
    >
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" className="number">
            {text('console.column.get')}
          </th>
          <th role="columnheader" className="number">
            {text('console.column.give')}
          </th>
          <th role="columnheader" className="number">
            {text('console.column.ask')}
          </th>
          <th role="columnheader" className="number">
            {text('console.column.yours')}
          </th>
          <th role="columnheader" className="number">
            {text('console.column.ends')}
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <GridRow
            key={row.rfq.id}
            row={row}
            quote={quotes.get(row.rfq.id)}
            isTabbed={row.rfq.id === tabbed}
            isOpened={row.rfq.id === opened}
            onActive={onActive}
            onOpen={onOpen}
          />
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noNoninteractiveElementToInteractiveRole: as above.
  );
}

type GridRowProps = Pick<BookGridProps, 'onActive' | 'onOpen'> & {
  readonly row: Row;
  readonly quote: Thread | undefined;
  readonly isTabbed: boolean;
  readonly isOpened: boolean;
};

const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, quote, isTabbed, isOpened, onActive, onOpen } = props;
  const { rfq, base, quote: priced } = row;
  const known = `${formatAmount(BigInt(rfq.baseAmount), base.decimals, { most: mostDecimals })} ${assetName(base)}`;
  const open = text('console.open_price', { asset: assetName(priced) });
  const [get, give] = rfq.direction === 'sell_base' ? [known, open] : [open, known];
  const price = (quoteAmount: string) =>
    formatPrice(
      { units: BigInt(quoteAmount), decimals: priced.decimals },
      { units: BigInt(rfq.baseAmount), decimals: base.decimals },
    );
  const ends = parseIsoTime(rfq.expiresAt);
  const cells: readonly (readonly [label: string, value: string])[] = [
    [text('console.column.get'), get],
    [text('console.column.give'), give],
    [
      text('console.column.ask'),
      rfq.askAmount === null ? text('console.no_ask') : price(rfq.askAmount),
    ],
    [
      text('console.column.yours'),
      quote === undefined ? text('console.not_quoted') : price(quote.quoteAmount),
    ],
  ];
  const classes = ['request', row.isGone && 'gone', isOpened && 'opened'];
  return (
    <tr
      role="row"
      id={rowId(rfq.id)}
      tabIndex={isTabbed ? 0 : -1}
      className={classes.filter(Boolean).join(' ')}
      onFocus={() => onActive(rfq.id)}
      onClick={() => onOpen(rfq.id)}
    >
      {cells.map(([label, value]) => (
        <td key={label} role="gridcell" data-label={label} className="number">
          {value}
        </td>
      ))}
      <td role="gridcell" data-label={text('console.column.ends')} className="number">
        {row.isGone ? (
          text('console.gone')
        ) : (
          <>
            <time dateTime={isoTime(ends)}>{localTime(ends, now())}</time>
            {rfq.visibility === 'private' && <span className="tag">{text('console.private')}</span>}
          </>
        )}
      </td>
    </tr>
  );
});
