// The verbs of the contract's model, in the order of its checks: fundings, ends, and batches of both.

import {
  type Action,
  type Asset,
  type Contract,
  dealAt,
  escrowAt,
  type Group,
  type Message,
  type Party,
  type State,
  type Word,
} from './lanes.ts';

type Of<Verb extends Action['verb']> = Extract<Action, { readonly verb: Verb }>;
type Draft = {
  readonly time: number;
  readonly isRefusing: boolean;
  words: Word[];
  fates: string[];
  held: Record<Asset, Record<Party | 'contract', number>>;
};
/** The error of the contract by its name, or null. */
type Refusal = string | null;

function draftOf({ time, isRefusing, words, fates, held }: State | Draft): Draft {
  return {
    time,
    isRefusing,
    words: [...words],
    fates: [...fates],
    held: { native: { ...held.native }, token: { ...held.token } },
  };
}

function takeIn(draft: Draft, asset: Asset, from: Party, amount: number): void {
  draft.held[asset][from] -= amount;
  draft.held[asset].contract += amount;
}

/** Whether its receiver took it. */
function pay(draft: Draft, asset: Asset, to: Party, amount: number): boolean {
  if (asset === 'native' && to === 'payee' && draft.isRefusing) return false;
  draft.held[asset].contract -= amount;
  draft.held[asset][to] += amount;
  return true;
}

function open({ scene, broken, places, cuts }: Contract, draft: Draft, index: number): Refusal {
  const { counter } = escrowAt(scene, index);
  const place = places[index] as number;
  const word = draft.words[place] as Word;
  const isInTime = draft.time < dealAt(scene, index).fundBefore;
  if (!isInTime && broken !== 'fundBefore') return 'FundTooLate';
  const isFree = word.state !== 1 || broken === 'free';
  const isNext = counter === word.counter + 1 || (broken === 'next' && counter > 0);
  if (!isFree || !isNext) return 'LaneNotReady';
  draft.words[place] = { counter, state: 1, cut: cuts[index] as number };
  draft.fates[index] += 'o';
  return null;
}

type Letter = 'c' | 'r' | 'e';

/** Changes nothing unless the escrow is open. */
function settle(contract: Contract, draft: Draft, index: number, letter: Letter): boolean {
  const { scene, broken, places, cuts } = contract;
  const { counter, isPayees } = escrowAt(scene, index);
  const place = places[index] as number;
  const word = draft.words[place] as Word;
  const isFound = !isPayees || broken !== 'place';
  const isOpen = word.state === 1 || (broken === 'open' && word.state !== 0);
  const isIts = word.cut === cuts[index] || broken === 'cut';
  if (!isFound || !isOpen || !isIts || word.counter !== counter) return false;
  if (broken !== 'written') draft.words[place] = { ...word, state: letter === 'c' ? 2 : 3 };
  draft.fates[index] += letter;
  return true;
}

function end(contract: Contract, draft: Draft, index: number, letter: Letter): Refusal {
  const { asset, payout, funder, amount } = dealAt(contract.scene, index);
  if (!settle(contract, draft, index, letter)) return 'NotOpen';
  const isPaid = pay(draft, asset, letter === 'c' ? payout : funder, amount);
  return isPaid || contract.broken === 'paid' ? null : 'PaymentRejected';
}

/** Whether the message is of the payout, and lets this escrow into its lane. */
function isLetIn({ broken, scene }: Contract, index: number, message: Message): boolean {
  const isType = message.type === 'open' || (broken === 'openType' && message.type === 'release');
  const isIts = message.escrow === index || broken === 'openEscrow';
  const isPayees = message.signer === dealAt(scene, index).payout || broken === 'openSigner';
  return isType && isIts && isPayees;
}

function isClosed({ scene, broken }: Contract, index: number): boolean {
  return escrowAt(scene, index).isPayees && broken !== 'payeesLane';
}

function fund(contract: Contract, draft: Draft, action: Of<'fund'>): Refusal {
  const { scene, broken } = contract;
  const { escrow, sender, value, message } = action;
  const { funder, asset, amount } = dealAt(scene, escrow);
  if (message === undefined && isClosed(contract, escrow)) return 'LaneOfPayee';
  if (sender !== funder && broken !== 'sender') return 'SenderIsNotRefund';
  const isRight = value === (asset === 'native' ? amount : 0);
  if (!isRight && broken !== 'value') return 'WrongValue';
  takeIn(draft, 'native', sender, value);
  const refusal = open(contract, draft, escrow);
  if (refusal !== null) return refusal;
  const given = message === undefined ? undefined : scene.messages[message];
  if (given !== undefined && !isLetIn(contract, escrow, given)) return 'WrongSigner';
  if (asset === 'token') takeIn(draft, asset, sender, amount);
  return null;
}

function fundAuthorized(contract: Contract, draft: Draft, action: Of<'fundAuthorized'>): Refusal {
  const { scene, broken } = contract;
  const { escrow } = action;
  const { funder, asset, amount } = dealAt(scene, escrow);
  const { type, ...message } = scene.messages[action.message] as Message;
  if (isClosed(contract, escrow)) return 'LaneOfPayee';
  const refusal = open(contract, draft, escrow);
  if (refusal !== null) return refusal;
  const isIts = message.escrow === escrow || broken === 'authorizedEscrow';
  const isFunders = message.signer === funder || broken === 'authorizedSigner';
  if (type !== 'authorization' || !isIts || !isFunders) return 'WrongSigner';
  takeIn(draft, asset, funder, amount);
  return null;
}

function fundMany(contract: Contract, draft: Draft, action: Of<'fundMany'>): Refusal {
  const { scene, broken } = contract;
  const { sender, value } = action;
  let owed = 0;
  let pulled = 0;
  for (const escrow of action.escrows) {
    const { funder, asset, amount } = dealAt(scene, escrow);
    if (sender !== funder && broken !== 'manySender') return 'SenderIsNotRefund';
    if (isClosed(contract, escrow)) return 'LaneOfPayee';
    const refusal = open(contract, draft, escrow);
    if (refusal !== null && broken === 'manyWhole') continue;
    if (refusal !== null) return refusal;
    if (asset === 'native') owed += amount;
    else pulled = broken === 'manyPull' ? amount : pulled + amount;
  }
  takeIn(draft, 'token', sender, pulled);
  takeIn(draft, 'native', sender, value);
  return value === owed || broken === 'manyValue' ? null : 'WrongValue';
}

function claim(contract: Contract, draft: Draft, { escrow, secret }: Of<'claim'>): Refusal {
  const { scene, broken } = contract;
  const deal = dealAt(scene, escrow);
  if (draft.time >= deal.timelock && broken !== 'claimTime') return 'ClaimTooLate';
  if (secret !== deal.secret && broken !== 'secret') return 'WrongSecret';
  return end(contract, draft, escrow, 'c');
}

function refund(contract: Contract, draft: Draft, { escrow }: Of<'refund'>): Refusal {
  const isEarly = draft.time < dealAt(contract.scene, escrow).timelock;
  if (isEarly && contract.broken !== 'refundTime') return 'RefundTooEarly';
  return end(contract, draft, escrow, 'r');
}

/** Whether the payee gives up this escrow. */
function isReleased({ broken, scene }: Contract, action: Of<'refundEarly'>): boolean {
  const { payout } = dealAt(scene, action.escrow);
  if (broken === 'release' || action.sender === payout) return true;
  const given = action.message === undefined ? undefined : scene.messages[action.message];
  if (given === undefined) return false;
  const isType = given.type === 'release' || (broken === 'releaseType' && given.type === 'open');
  const isIts = given.escrow === action.escrow || broken === 'releaseEscrow';
  return isType && isIts && (given.signer === payout || broken === 'releaseSigner');
}

function refundEarly(contract: Contract, draft: Draft, action: Of<'refundEarly'>): Refusal {
  const { asset, funder, amount } = dealAt(contract.scene, action.escrow);
  if (!settle(contract, draft, action.escrow, 'e')) return 'NotOpen';
  if (!isReleased(contract, action)) return 'NotGivenUp';
  return pay(draft, asset, funder, amount) ? null : 'PaymentRejected';
}

/** Settles those of the group that are open and in time, and pays them by one payment; or none. */
function endGroup(
  contract: Contract,
  draft: Draft,
  group: Group,
  action: Of<'claimMany' | 'refundMany'>,
): Draft | null {
  const { scene, broken } = contract;
  const isClaim = action.verb === 'claimMany';
  const tried = draftOf(draft);
  let sum = 0;
  for (const escrow of group.escrows) {
    const { timelock, amount, asset, payout, funder, secret } = dealAt(scene, escrow);
    const isLate = tried.time >= timelock;
    const isAsked = broken === (isClaim ? 'manyClaimTime' : 'manyRefundTime');
    if (isLate === isClaim && !isAsked) continue;
    const isAsset = asset === group.asset || broken === 'groupAsset';
    const isReceiver = (isClaim ? payout : funder) === group.to || broken === 'groupReceiver';
    const isSecret = (action.secret ?? secret) === secret || broken === 'manySecret';
    if (!isAsset || !isReceiver || (isClaim && !isSecret)) continue;
    const before = [...tried.words];
    if (!settle(contract, tried, escrow, isClaim ? 'c' : 'r')) continue;
    sum += amount;
    if (broken === 'once') tried.words = before;
  }
  if (sum === 0) return draft;
  const isPaid = action.isStarved !== true && pay(tried, group.asset, group.to, sum);
  return isPaid || broken === 'groupWhole' ? tried : null;
}

function endMany(
  contract: Contract,
  draft: Draft,
  action: Of<'claimMany' | 'refundMany'>,
): Refusal {
  for (const group of action.groups) {
    const after = endGroup(contract, draft, group, action);
    if (after === null && contract.broken === 'groupAlone') return 'PaymentRejected';
    Object.assign(draft, after ?? {});
  }
  return null;
}

function call(contract: Contract, draft: Draft, action: Action): Refusal {
  switch (action.verb) {
    case 'fund':
      return fund(contract, draft, action);
    case 'fundAuthorized':
      return fundAuthorized(contract, draft, action);
    case 'fundMany':
      return fundMany(contract, draft, action);
    case 'claim':
      return claim(contract, draft, action);
    case 'refund':
      return refund(contract, draft, action);
    case 'refundEarly':
      return refundEarly(contract, draft, action);
    case 'claimMany':
    case 'refundMany':
      return endMany(contract, draft, action);
    case 'sign':
    case 'wait':
    case 'refuse':
    case 'mark':
    case 'reorganise':
      return 'no verb of the contract';
  }
}

/** The state after an action, the very same one if it changes nothing, and the refusal. */
export function act(
  contract: Contract,
  state: State,
  action: Action,
): { state: State; refusal: Refusal } {
  const { marked } = state;
  switch (action.verb) {
    case 'wait':
      return { state: { ...state, time: state.time + 1 }, refusal: null };
    case 'refuse':
      return { state: { ...state, isRefusing: !state.isRefusing }, refusal: null };
    case 'sign':
      return {
        state: { ...state, signed: state.signed.with(action.message, true) },
        refusal: null,
      };
    case 'mark':
      return { state: { ...state, marked: state }, refusal: null };
    case 'reorganise': {
      if (marked === null) return { state, refusal: 'no block to go back to' };
      const back = { ...marked, signed: state.signed, marked: null, isReorganised: true };
      return { state: back, refusal: null };
    }
    default: {
      const draft = draftOf(state);
      const refusal = call(contract, draft, action);
      const isChanged = draft.fates.some((fate, index) => fate !== state.fates[index]);
      return { state: refusal === null && isChanged ? { ...state, ...draft } : state, refusal };
    }
  }
}
