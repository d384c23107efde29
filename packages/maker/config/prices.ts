// The price sources of the settings.

import { type Price, parsePrice } from '../rules/price.ts';
import type { Fields } from './fields.ts';

export type Bounds = {
  /** A price beyond these is none; null: no bound. */
  readonly least: Price | null;
  readonly most: Price | null;
  /** A step further than this from the last good price is not believed; null: any is. */
  readonly jumpBps: bigint | null;
};

export type Polled = {
  readonly everyMs: number;
  /** For one answer. */
  readonly timeoutMs: number;
};

export type PriceConfig = Bounds & {
  readonly name: string;
  /** Older than this it is no price. */
  readonly staleMs: number;
  readonly from:
    | { readonly type: 'fixed'; readonly value: Price }
    | (Polled & {
        readonly type: 'command';
        readonly command: readonly string[];
        readonly folder: string;
        /** Null: its output is the price. */
        readonly path: string | null;
      })
    | (Polled & { readonly type: 'http'; readonly url: string; readonly path: string | null })
    | {
        readonly type: 'websocket';
        readonly url: string;
        /** The frames that are sent once it is open. */
        readonly subscribe: readonly string[];
        readonly path: string;
      };
};

const ranges = {
  every: { least: 1, most: 3_600 },
  timeout: { least: 1, most: 60 },
  stale: { least: 1, most: 86_400 },
  jump: { least: 1, most: 10_000 },
} as const;

export function priceConfig(name: string, fields: Fields, folder: string): PriceConfig {
  const from = fromOf(fields, folder);
  const every = 'everyMs' in from ? from.everyMs / 1_000 : 10;
  const price = (setting: string) => fields.parsed(setting, parsePrice);
  return {
    name,
    from,
    staleMs: 1_000 * fields.whole('stale_seconds', ranges.stale, Math.max(30, 3 * every)),
    least: price('least'),
    most: price('most'),
    jumpBps: from.type === 'fixed' ? null : BigInt(fields.whole('jump_bps', ranges.jump, 1_000)),
  };
}

function fromOf(fields: Fields, folder: string): PriceConfig['from'] {
  const type = fields.oneOf('type', ['fixed', 'command', 'http', 'websocket']);
  switch (type) {
    case 'fixed':
      return { type, value: fixedPrice(fields) };
    case 'command': {
      const command = fields.texts('command', { most: 50 });
      if (command.length === 0) fields.fault('command', 'must be a program and its arguments');
      return { type, command, folder, path: fields.optional('path'), ...polled(fields) };
    }
    case 'http': {
      const url = urlOf(fields, /^https?:$/, 'http or https');
      return { type, url, path: fields.optional('path'), ...polled(fields) };
    }
    case 'websocket':
      return {
        type,
        url: urlOf(fields, /^wss?:$/, 'ws or wss'),
        subscribe: fields.texts('subscribe', { most: 10 }),
        path: fields.text('path'),
      };
  }
}

function fixedPrice(fields: Fields): Price {
  const value = fields.parsed('value', parsePrice);
  if (value === null) fields.fault('value', 'is the price, such as "64000"');
  return value ?? { over: 1n, under: 1n };
}

function polled(fields: Fields): Polled {
  return {
    everyMs: 1_000 * fields.whole('every_seconds', ranges.every, 10),
    timeoutMs: 1_000 * fields.whole('timeout_seconds', ranges.timeout, 5),
  };
}

function urlOf(fields: Fields, form: RegExp, what: string): string {
  const url = fields.text('url');
  if (!form.test(URL.parse(url)?.protocol ?? '')) fields.fault('url', `must be a ${what} address`);
  return url;
}
