// The contract of EVM and TRON as a model: words of lanes, ids, verbs, signed messages, payments that
// fail, and a reorganisation. `bytes.test.ts` holds it to the contract's bytes, verb by verb.

export type Party = 'ann' | 'ben' | 'payee' | 'stranger';
export type Asset = 'native' | 'token';

/** Terms of an escrow. Times are ticks of the clock. */
export type Deal = {
  readonly secret: number;
  readonly funder: Party;
  readonly payout: Party;
  readonly asset: Asset;
  readonly amount: number;
  readonly fundBefore: number;
  readonly timelock: number;
};

/** `isPayees`: the lane lies under the payout address, and its number has the top bit. */
export type Escrow = {
  readonly deal: number;
  readonly lane: number;
  readonly isPayees: boolean;
  readonly counter: number;
};

export type Message = {
  readonly type: 'release' | 'open' | 'authorization';
  readonly escrow: number;
  readonly signer: Party;
};

/** Escrows and messages by their index. */
export type Action =
  | ({ readonly verb: 'fund'; readonly escrow: number } & Paid)
  | { readonly verb: 'fundAuthorized'; readonly escrow: number; readonly message: number }
  | ({ readonly verb: 'fundMany'; readonly escrows: readonly number[] } & Paid)
  | { readonly verb: 'claim'; readonly escrow: number; readonly secret: number }
  | { readonly verb: 'refund'; readonly escrow: number }
  | {
      readonly verb: 'refundEarly';
      readonly escrow: number;
      readonly sender: Party;
      readonly message?: number;
    }
  | {
      readonly verb: 'claimMany' | 'refundMany';
      readonly groups: readonly Group[];
      /** For all legs of a claim, in place of each one's own. */
      readonly secret?: number;
      /** The groups are given too little gas to pay. */
      readonly isStarved?: true;
    }
  | { readonly verb: 'sign'; readonly message: number }
  | { readonly verb: 'wait' | 'refuse' | 'mark' | 'reorganise' };
export type Group = {
  readonly asset: Asset;
  readonly to: Party;
  readonly escrows: readonly number[];
};
/** `message`: with the payee's consent to its lane. */
type Paid = { readonly sender: Party; readonly value: number; readonly message?: number };

/** 0 never used, 1 open, 2 claimed, 3 refunded. `cut` is the id as far as a word holds it. */
export type Word = {
  readonly counter: number;
  readonly state: 0 | 1 | 2 | 3;
  readonly cut: number;
};

export type State = {
  readonly time: number;
  /** The payee refuses the native coin. */
  readonly isRefusing: boolean;
  /** By the index of the key. */
  readonly words: readonly Word[];
  /** What became of each escrow: `o` for each opening, then `c`laimed, `r`efunded, refunded `e`arly. */
  readonly fates: readonly string[];
  /** What each holds, and the contract, as a difference to the beginning. */
  readonly held: Readonly<Record<Asset, Readonly<Record<Party | 'contract', number>>>>;
  /** Messages that exist. A reorganisation takes none of them away. */
  readonly signed: readonly boolean[];
  /** A block that the chain may go back to, once. */
  readonly marked: State | null;
  readonly isReorganised: boolean;
};

export type Scene = {
  readonly deals: readonly Deal[];
  readonly escrows: readonly Escrow[];
  readonly messages: readonly Message[];
  /** Ticks of the clock, from 0 on. */
  readonly lastTime: number;
};

/** Every rule of the contract, and what it is for. The checker must find each one broken. */
export const rules = {
  sender: 'a funding is sent by its funder',
  value: 'a native funding brings its amount',
  fundBefore: 'a funding comes before its fund-by',
  free: 'a funding takes no open word',
  next: 'a funding brings the next counter',
  payeesLane: 'a lane of the payee opens by its consent',
  openType: 'a release opens no lane',
  openEscrow: 'a consent opens the escrow that it names',
  openSigner: 'a lane of the payee is its own to open',
  authorizedEscrow: 'an authorization funds the escrow that it names',
  authorizedSigner: "an authorization is the funder's",
  place: 'each verb finds the lane of the payee',
  open: 'an escrow that is not open is not settled',
  cut: 'a word opens to its own id alone',
  amountInId: 'an id commits to the amount',
  payoutInId: 'an id commits to the payout',
  written: 'a settled escrow is written down',
  claimTime: 'a claim comes before the timelock',
  secret: 'a claim shows the secret',
  refundTime: 'a refund comes from the timelock on',
  release: 'an early refund has the consent of the payee',
  releaseType: 'a consent to a lane releases nothing',
  releaseEscrow: 'a release frees the escrow that it names',
  releaseSigner: 'a release is signed by the payout',
  paid: 'a payment that fails settles nothing',
  manyClaimTime: 'a batch claims nothing too late',
  manyRefundTime: 'a batch refunds nothing too early',
  once: 'a batch pays a leg once',
  manySecret: 'a batch claims nothing by another secret',
  groupReceiver: 'a group leaves a leg of another receiver',
  groupAsset: 'a group leaves a leg of another asset',
  groupWhole: 'a group whose payment fails stays open whole',
  groupAlone: 'a group that fails leaves the others their payment',
  manySender: 'many fundings are sent by their funder',
  manyValue: 'many fundings bring the sum of their amounts',
  manyPull: 'neighbours of one token are pulled by their sum',
  manyWhole: 'many fundings happen together or not at all',
} as const;
export type Rule = keyof typeof rules;

/** An escrow's place among the words, for example `ann/0` or `payee/top/0`. */
export function keyOf(scene: Scene, escrow: Escrow): string {
  const { funder, payout } = dealOf(scene, escrow);
  return escrow.isPayees ? `${payout}/top/${escrow.lane}` : `${funder}/${escrow.lane}`;
}

export function keysOf(scene: Scene): string[] {
  return [...new Set(scene.escrows.map((escrow) => keyOf(scene, escrow)))];
}

const dealOf = (scene: Scene, escrow: Escrow) => scene.deals[escrow.deal] as Deal;

export const escrowAt = (scene: Scene, index: number) => scene.escrows[index] as Escrow;
export const dealAt = (scene: Scene, index: number) => dealOf(scene, escrowAt(scene, index));

/** The contract of a scene, whole or with one rule broken. */
export type Contract = {
  readonly scene: Scene;
  readonly broken: Rule | null;
  readonly keys: readonly string[];
  /** By the index of the escrow: the index of its key, and its id as a word holds it. */
  readonly places: readonly number[];
  readonly cuts: readonly number[];
};

export function contractOf(scene: Scene, broken: Rule | null = null): Contract {
  const keys = keysOf(scene);
  const ids = scene.escrows.map((escrow) => {
    const { amount, payout, ...rest } = dealOf(scene, escrow);
    const { lane, isPayees, counter } = escrow;
    const fields = [
      rest,
      broken === 'amountInId' ? 0 : amount,
      broken === 'payoutInId' ? 0 : payout,
      lane,
      isPayees,
      counter,
    ];
    return JSON.stringify(fields);
  });
  return {
    scene,
    broken,
    keys,
    places: scene.escrows.map((escrow) => keys.indexOf(keyOf(scene, escrow))),
    cuts: ids.map((id) => ids.indexOf(id)),
  };
}

const none = { ann: 0, ben: 0, payee: 0, stranger: 0, contract: 0 } as const;

/** Messages are there from the start, or signed on the way. */
export function firstOf({ scene, keys }: Contract, isSigned: boolean): State {
  return {
    time: 0,
    isRefusing: false,
    words: keys.map(() => ({ counter: 0, state: 0, cut: -1 })),
    fates: scene.escrows.map(() => ''),
    held: { native: none, token: none },
    signed: scene.messages.map(() => isSigned),
    marked: null,
    isReorganised: false,
  };
}
