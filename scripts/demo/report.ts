// What the demo says while it runs: a timeline for people, or JSON lines for programs.

export type SwapLine = {
  readonly pair: string;
  /** How it was meant to go: settled, no show, both refund. */
  readonly scenario: string;
  readonly status: string;
  readonly durationMs: number;
  readonly txids: Readonly<Record<string, string>>;
};

/** How many of those that were meant to did. */
export type Share = { readonly done: number; readonly of: number };

export type Totals = {
  readonly ok: boolean;
  /** Every ordered pair of the families was played. */
  readonly all: boolean;
  readonly swaps: number;
  readonly asExpected: number;
  readonly settled: Share;
  readonly refunded: Share;
  /** Chains on which money was taken back. */
  readonly refundedOn: readonly string[];
  readonly balancesExact: boolean;
  readonly durationMs: number;
  readonly problems: readonly string[];
};

export type Report = {
  say(text: string): void;
  event(pair: string, who: string, what: string, txid?: string | null): void;
  swap(line: SwapLine): void;
  totals(totals: Totals): void;
};

/** What a swap is called in the timeline. */
export function labelOf(pair: string, scenario: string): string {
  return scenario === 'settled' ? pair : `${pair} ${scenario}`;
}

export function verdictOf(totals: Totals): string {
  const { ok, all, settled, refunded, refundedOn, balancesExact, durationMs } = totals;
  const parts = [
    `${settled.done} of ${settled.of} ${all ? 'ordered pairs of families' : 'pairs'} settled`,
    `${refunded.done} of ${refunded.of} refunded (on ${refundedOn.join(', ')})`,
    balancesExact ? 'every balance is exact' : 'balances differ',
    `${(durationMs / 1000).toFixed(1)} s`,
  ];
  return `${ok ? 'OK' : 'FAILED'}: ${parts.join(', ')}`;
}

export function reportTo(json: boolean, write: (line: string) => void): Report {
  const startedMs = performance.now();
  const at = () => `${((performance.now() - startedMs) / 1000).toFixed(1).padStart(5)} s`;
  if (json) {
    return {
      say: () => undefined,
      event: () => undefined,
      swap: (line) => write(JSON.stringify(line)),
      totals: (totals) => write(JSON.stringify(totals)),
    };
  }
  return {
    say: (text) => write(`${at()}  ${text}`),
    event: (pair, who, what, txid) => {
      write(`${at()}  ${pair.padEnd(30)} ${who.padEnd(6)} ${what}`);
      if (txid) write(`${' '.repeat(47)}${txid}`);
    },
    swap: ({ pair, scenario, status, durationMs }) =>
      write(
        `${at()}  ${labelOf(pair, scenario).padEnd(30)} ended ${status} in ${(durationMs / 1000).toFixed(1)} s`,
      ),
    totals: (totals) => {
      for (const problem of totals.problems) write(`        PROBLEM  ${problem}`);
      write(`${at()}  ${verdictOf(totals)}`);
    },
  };
}
