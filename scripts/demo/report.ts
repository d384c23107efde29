// What the demo says while it runs: a timeline for people, or JSON lines for programs.

export type SwapLine = {
  readonly pair: string;
  /** How it was meant to go: settled, no show, both refund. */
  readonly scenario: string;
  readonly status: string;
  readonly durationMs: number;
  readonly txids: Readonly<Record<string, string>>;
};

export type Totals = {
  readonly ok: boolean;
  readonly swaps: number;
  readonly asExpected: number;
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
    totals: ({ ok, swaps, asExpected, refundedOn, balancesExact, durationMs, problems }) => {
      for (const problem of problems) write(`        PROBLEM  ${problem}`);
      const balances = balancesExact ? 'every balance is exact' : 'balances differ';
      const seconds = (durationMs / 1000).toFixed(1);
      const verdict = ok ? 'OK' : 'FAILED';
      write(
        `${at()}  ${verdict}: ${asExpected} of ${swaps} as expected, ` +
          `refunds on ${refundedOn.join(', ')}, ${balances}, ${seconds} s`,
      );
    },
  };
}
