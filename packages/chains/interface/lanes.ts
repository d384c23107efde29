// The lanes of a chain whose escrows lie in contracts. Only EVM and TRON have them.

export type LaneState = {
  /** That of its last escrow; 0: never used. The next funding must bring one more. */
  readonly counter: number;
  readonly isOpen: boolean;
};

/** The lanes of a chain whose escrows lie in contracts, each of which has words of its own. */
export type Lanes = {
  /** All that may hold money. */
  readonly contracts: readonly string[];
  /** Those of them that take new escrows. */
  readonly open: readonly string[];
  /** The one of `open` that a new escrow of this funder goes to. */
  contractFor(funder: string): string;
  /** Lanes of one funder in a contract by their numbers (`Lane.number`), at most 100. */
  read(
    of: { readonly contract: string; readonly funder: string },
    numbers: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly LaneState[]>;
};
