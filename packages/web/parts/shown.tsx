// Amounts, times and rows as every screen draws them.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { type ReactNode, useSyncExternalStore } from 'react';
import { now } from '../market/config.ts';
import {
  deadlineText,
  formatAmount,
  formatDuration,
  localTime,
  secondsOf,
} from '../texts/people.ts';
import { text } from '../texts/texts.ts';
import { chainName } from './words.ts';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Shown again each second. Keep what uses it small: a clock, not a screen. */
export function useNow(): UnixSeconds {
  return useSyncExternalStore(subscribe, now);
}

type AmountProps = {
  units: BaseUnits;
  decimals: number;
  symbol: string;
  /** Most decimals shown; default all. */
  most?: number;
};

export function Amount({ units, decimals, symbol, most = decimals }: AmountProps) {
  const exact = formatAmount(units, decimals);
  const shown = formatAmount(units, decimals, { most });
  if (shown === exact) return <span className="amount">{`${exact}\u00a0${symbol}`}</span>;
  return (
    <span
      className="amount"
      title={`${exact} ${symbol}`}
      onCopy={(event) => {
        event.clipboardData.setData('text/plain', `${exact} ${symbol}`);
        event.preventDefault();
      }}
    >
      {`${shown}\u00a0${symbol}`}
    </span>
  );
}

type AssetAmountProps = {
  units: BaseUnits;
  /** undefined: the market lists it no more, or has not answered; base units are shown then. */
  asset: Asset | undefined;
  /** The same symbol is another thing on another chain. */
  withChain?: boolean;
};

export function AssetAmount({ units, asset, withChain = false }: AssetAmountProps) {
  if (asset === undefined) return <span className="amount">{units.toString()}</span>;
  return (
    <>
      <Amount units={units} decimals={asset.decimals} symbol={asset.symbol} />
      {withChain && <span className="soft"> {chainName(asset.chain)}</span>}
    </>
  );
}

/** `14:05 CET, in 22 minutes`. A sentence around it is the screen's. */
export function Clock({ at }: { at: UnixSeconds }) {
  const now = useNow();
  return (
    <time dateTime={isoTime(at)} className={at <= now ? 'clock past' : 'clock'}>
      {deadlineText(at, now)}
    </time>
  );
}

/** `22 minutes`, and seconds in the last minute; `passed` afterwards. For cells of a table. */
export function Countdown({ at }: { at: UnixSeconds }) {
  const left = Math.max(0, at - useNow());
  return (
    <time dateTime={isoTime(at)} className={left < 120 ? 'clock near' : 'clock'}>
      {left === 0 ? text('clock.passed') : formatDuration(left)}
    </time>
  );
}

/** `at`: RFC 3339. */
export function When({ at }: { at: string }) {
  const seconds = secondsOf(at);
  const iso = isoTime(seconds);
  return (
    <time dateTime={iso} title={iso} className="clock">
      {localTime(seconds, now())}
    </time>
  );
}

export type Column<Row> = {
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand to the right. */
  readonly number?: boolean;
};

type TableProps<Row> = {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Default its `id`. */
  keyOf?: (row: Row) => string;
};

const idOf = (row: object) => (row as { readonly id: string }).id;

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf = idOf as (row: Row) => string } = props;
  const looks = (each: Column<Row>) => (each.number ? 'number' : undefined);
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: `display` takes the implied ones away.
    <table role="table" className="table">
      <caption className="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((each) => (
            <th key={each.label} role="columnheader" scope="col" className={looks(each)}>
              {each.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map((each) => (
              <td key={each.label} role="cell" data-label={each.label} className={looks(each)}>
                <div>{each.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above.
  );
}
