// Rows that keep something sealed, as they are read to be sealed anew.

/** Those behind `after` under another key than this one, in the order of their ids. */
export type NotUnder<Id> = {
  readonly version: number;
  readonly after: Id;
  readonly limit: number;
};

export type SealedRow<Id> = { readonly id: Id; readonly sealed: Buffer };
