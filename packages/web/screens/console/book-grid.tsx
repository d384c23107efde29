// The book as a list that is walked by keys: one row has the focus, Enter opens its quote.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime, parseIsoTime } from '@parley/sdk/people.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import { type KeyboardEvent, memo, useCallback, useEffect, useRef } from 'react';
import { chainName } from '../../parts/names.ts';
import { useNow } from '../../parts/now.ts';
import { formatAmount, fromNow } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { priceWords } from './price-words.ts';
import { type Row, rowByKey } from './rows.ts';

/** Digits of an amount in the list: whole satoshis; the panel of the quote has all digits. */
const most = 8;
const tickSeconds = 10;

type BookGridProps = {
  readonly rows: readonly Row[];
  /** One's own threads, by the id of their RFQ. */
  readonly quotes: ReadonlyMap<string, Thread>;
  /** The row that Tab leads to. */
  readonly active: string | null;
  /** The request whose quote is open. */
  readonly opened: string | null;
  readonly onActive: (id: string) => void;
  readonly onOpen: (id: string) => void;
  /** Whether the focus is in the list. */
  readonly onInside: (isInside: boolean) => void;
  readonly onFresh: () => void;
};

export const rowId = (id: string) => `request-${id}`;

const columns = [
  'console.column.get',
  'console.column.give',
  'console.column.ask',
  'console.column.yours',
  'console.column.ends',
] as const;

export function BookGrid(props: BookGridProps) {
  const { rows, quotes, active, opened, onActive, onOpen, onInside, onFresh } = props;
  const tabbed = rows.some((row) => row.rfq.id === active) ? active : (rows[0]?.rfq.id ?? null);
  // Hundreds of rows that are shown again each second would be felt.
  const at = Math.floor(useNow() / tickSeconds) * tickSeconds;
  // The rows know this one alone: they are shown again when they change, not when it does.
  const keys = useRef((_: KeyboardEvent) => {});
  useEffect(() => {
    keys.current = (event) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey) return;
      if (key.toLowerCase() === 'n') return onFresh();
      const next = rowByKey(rows, tabbed, key);
      if (next === null) return;
      event.preventDefault();
      onActive(next);
      document.getElementById(rowId(next))?.focus();
    };
  });
  const onKey = useCallback((event: KeyboardEvent) => keys.current(event), []);
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: `display` takes the implied ones away.
    <table role="table" className="table book-grid">
      <caption className="unseen">{text('console.book')}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((name, at) => (
            <th key={name} role="columnheader" scope="col" className={at === 0 ? '' : 'number'}>
              {text(name)}
            </th>
          ))}
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
            onInside={onInside}
            onKey={onKey}
            at={at}
          />
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above.
  );
}

type GridRowProps = Pick<BookGridProps, 'onActive' | 'onOpen' | 'onInside'> & {
  readonly row: Row;
  readonly quote: Thread | undefined;
  readonly isTabbed: boolean;
  readonly isOpened: boolean;
  readonly onKey: (event: KeyboardEvent) => void;
  readonly at: UnixSeconds;
};

const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, quote, isTabbed, isOpened, onActive, onOpen, onInside, onKey, at } = props;
  const { get, give, ask, yours, ends } = wordsOf(row, quote);
  const { rfq, isGone } = row;
  const classes = ['request', isGone && 'gone', isOpened && 'opened'].filter(Boolean).join(' ');
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: `display` takes the implied ones away.
    <tr role="row" className={classes}>
      <td role="cell" data-label={text('console.column.get')}>
        <button
          type="button"
          id={rowId(rfq.id)}
          className="request-open"
          tabIndex={isTabbed ? 0 : -1}
          onClick={() => onOpen(rfq.id)}
          onKeyDown={onKey}
          onFocus={() => {
            onActive(rfq.id);
            onInside(true);
          }}
          onBlur={({ relatedTarget }) =>
            onInside(relatedTarget?.classList.contains('request-open') ?? false)
          }
        >
          <span className="unseen">{text('console.row.get')} </span>
          <Named {...get} />
          <span className="unseen">
            {', '}
            {text('console.row.give')} {give.what} {chainName(give.asset.chain)}
          </span>
        </button>
      </td>
      <td role="cell" data-label={text('console.column.give')} className="number">
        <Named {...give} />
      </td>
      <td role="cell" data-label={text('console.column.ask')} className="number">
        {ask}
      </td>
      <td role="cell" data-label={text('console.column.yours')} className="number">
        {yours}
      </td>
      <td role="cell" data-label={text('console.column.ends')} className="number">
        {isGone ? (
          text('console.gone')
        ) : (
          <>
            <time dateTime={isoTime(ends)}>{fromNow(ends, at)}</time>
            {rfq.visibility === 'private' && <span className="tag">{text('console.private')}</span>}
          </>
        )}
      </td>
    </tr>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above.
  );
});

type Part = { readonly what: string; readonly asset: Asset };

function Named({ what, asset }: Part) {
  return (
    <span>
      <span className="amount">{what}</span> <span className="chain">{chainName(asset.chain)}</span>
    </span>
  );
}

function wordsOf({ rfq, base, quote: priced }: Row, own: Thread | undefined) {
  const amount = formatAmount(BigInt(rfq.baseAmount), base.decimals, { most });
  const known = { what: `${amount}\u00a0${base.symbol}`, asset: base };
  const open = { what: priced.symbol, asset: priced };
  const [get, give] = rfq.direction === 'sell_base' ? [known, open] : [open, known];
  const price = (quoteAmount: string) => {
    const of = { baseAmount: BigInt(rfq.baseAmount), quoteAmount: BigInt(quoteAmount) };
    return priceWords(of, base, priced);
  };
  const ask = rfq.askAmount === null ? text('console.no_ask') : price(rfq.askAmount);
  const yours = own === undefined ? text('console.not_quoted') : price(own.quoteAmount);
  return { get, give, ask, yours, ends: parseIsoTime(rfq.expiresAt) };
}
