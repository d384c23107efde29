// The contract's own bytes, with the parties, deals and messages of a scene.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { MeasureError } from '@parley/contracts/escrows/bench/chain.ts';
import {
  accountOf,
  args,
  call,
  coinCall,
  encoded,
  type Session,
  START,
  secretOf,
  session,
} from '@parley/contracts/escrows/bench/session.ts';
import {
  consentOf,
  type Escrow,
  escrowId,
  firstLaneOfPayee,
  keyOf,
  legOf,
} from '@parley/contracts/escrows/ids.ts';
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseAbi,
  parseSignature,
  sha256,
  zeroAddress,
} from 'viem';
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
} from './lanes.ts';

/** A tick of the model's clock, in seconds. */
const tick = 86_400n;
const parties = ['ann', 'ben', 'payee', 'stranger'] as const satisfies readonly Party[];
const accounts = Object.fromEntries(
  parties.map((party) => [party, accountOf(`model ${party}`)]),
) as Record<Party, ReturnType<typeof accountOf>>;
const addressOf = (party: Party) => accounts[party].address;
const rich = 10n ** 18n;
/** Too little to write one word. */
const starving = 3_000n;
const enough = 400_000n;
const coin = parseAbi(['function balanceOf(address who) view returns (uint256)']);

/** Burns all the gas that it is given. A TVM hands on all that there is, so there it reverts. */
const refusing = { prague: '0xfe', amsterdam: '0xfe', tron: '0x5f5ffd' } as const;
export type Kind = keyof typeof refusing;

export type World = {
  readonly contract: Contract;
  readonly kind: Kind;
  readonly session: Session;
  readonly escrows: readonly Escrow[];
  readonly ids: readonly Hex[];
  /** By the index of the message: r, s and v. */
  readonly signatures: readonly Hex[];
};

function escrowIn({ scene }: Contract, { coin }: Session, index: number): Escrow {
  const { lane, isPayees, counter } = escrowAt(scene, index);
  const { secret, payout, funder, asset, amount, timelock, fundBefore } = dealAt(scene, index);
  const terms = {
    hashlock: sha256(secretOf(secret)),
    payout: addressOf(payout),
    refund: addressOf(funder),
    token: asset === 'native' ? zeroAddress : coin,
    amount: BigInt(amount),
    timelock: START + BigInt(timelock) * tick,
    fundBefore: START + BigInt(fundBefore) * tick,
  };
  return { terms, lane: BigInt(lane) + (isPayees ? firstLaneOfPayee : 0n), counter };
}

function signed({ chain, escrows, coin }: Session, escrow: Escrow, message: Message): Promise<Hex> {
  const account = accounts[message.signer];
  const { chainId } = chain;
  if (message.type !== 'authorization') {
    const what = message.type === 'open' ? 'OpenInMyLane' : 'GiveUpClaim';
    return account.signTypedData(consentOf(what, chainId, escrows, escrow));
  }
  const field = (type: string) => (name: string) => ({ type, name });
  return account.signTypedData({
    domain: { name: 'Dev Coin', version: '2', chainId, verifyingContract: coin },
    types: {
      ReceiveWithAuthorization: [
        ...['from', 'to'].map(field('address')),
        ...['value', 'validAfter', 'validBefore'].map(field('uint256')),
        field('bytes32')('nonce'),
      ],
    },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: escrow.terms.refund,
      to: escrows,
      value: escrow.terms.amount,
      validAfter: 0n,
      validBefore: escrow.terms.fundBefore,
      nonce: escrowId(chainId, escrows, escrow),
    },
  });
}

export async function worldOf(contract: Contract, kind: Kind): Promise<World> {
  const there = await session(kind);
  for (const party of parties) {
    await there.chain.give(addressOf(party), rich);
    await coinCall(there, addressOf(party), 'mint', [addressOf(party), rich]);
    await coinCall(there, addressOf(party), 'approve', [there.escrows, maxUint256]);
  }
  const { scene } = contract;
  const escrows = scene.escrows.map((_, index) => escrowIn(contract, there, index));
  const signatures = await Promise.all(
    scene.messages.map((each) => signed(there, escrows[each.escrow] as Escrow, each)),
  );
  const ids = escrows.map((escrow) => escrowId(there.chain.chainId, there.escrows, escrow));
  return { contract, kind, session: there, escrows, ids, signatures };
}

function parts(signature: Hex) {
  const { r, s, yParity } = parseSignature(signature);
  return { v: yParity + 27, r, s };
}

function groupsOf(world: World, action: Extract<Action, { readonly groups: readonly Group[] }>) {
  const { contract, session, escrows } = world;
  const verb = action.verb === 'claimMany' ? 'claim' : 'refund';
  return action.groups.map(({ asset, to, escrows: named }) => ({
    token: asset === 'native' ? zeroAddress : session.coin,
    to: addressOf(to),
    legs: named.map((index) => {
      const escrow = escrows[index] as Escrow;
      const secret = secretOf(action.secret ?? dealAt(contract.scene, index).secret);
      return legOf(escrow, verb, verb === 'claim' ? secret : escrow.terms.hashlock);
    }),
  }));
}

type Sent = { readonly from: Party; readonly data: Hex; readonly value?: number };

/** The transaction of an action, or null where it is none of the contract's verbs. */
function sentBy(world: World, action: Action): Sent | null {
  const at = (index: number) => args(world.escrows[index] as Escrow);
  const by = (message: number) => world.signatures[message] as Hex;
  const from = 'stranger';
  switch (action.verb) {
    case 'fund': {
      const { escrow, sender, value, message } = action;
      const verb = message === undefined ? 'fund' : 'fundInLane';
      const consent = message === undefined ? [] : [parts(by(message))];
      return { from: sender, data: encoded(verb, [...at(escrow), ...consent]), value };
    }
    case 'fundAuthorized': {
      const given = [...at(action.escrow), parts(by(action.message))];
      return { from, data: encoded('fundWithAuthorization', given) };
    }
    case 'fundMany': {
      const fundings = action.escrows.map((index) => world.escrows[index]);
      return { from: action.sender, data: encoded('fundMany', [fundings]), value: action.value };
    }
    case 'claim':
      return { from, data: encoded('claim', [...at(action.escrow), secretOf(action.secret)]) };
    case 'refund':
      return { from, data: encoded('refund', at(action.escrow)) };
    case 'refundEarly': {
      const { escrow, sender, message } = action;
      const given = [...at(escrow), message === undefined ? '0x' : by(message)];
      return { from: sender, data: encoded('refundEarly', given) };
    }
    case 'claimMany':
    case 'refundMany': {
      const gas = action.isStarved === true ? starving : enough;
      return { from, data: encoded(action.verb, [groupsOf(world, action), gas]) };
    }
    default:
      return null;
  }
}

/** Does what the model does. Answers the name of the contract's error, or null. */
export async function doOn(world: World, state: State, action: Action): Promise<string | null> {
  const { session, kind } = world;
  if (action.verb === 'refuse') {
    await session.chain.lend(addressOf('payee'), state.isRefusing ? '0x' : refusing[kind]);
  }
  const sent = sentBy(world, action);
  if (sent === null) return null;
  const at = START + BigInt(state.time) * tick;
  try {
    await call(session, addressOf(sent.from), sent.data, BigInt(sent.value ?? 0), at);
    return null;
  } catch (error) {
    if (!(error instanceof MeasureError) || error.output === '0x') throw error;
    return decodeErrorResult({ abi: escrowsAbi as Abi, data: error.output }).errorName;
  }
}

async function asked(world: World, name: string, given: readonly unknown[]): Promise<unknown> {
  const { chain, escrows } = world.session;
  const abi = escrowsAbi as Abi;
  const data = await chain.read(escrows, encoded(name, given), START);
  return decodeFunctionResult({ abi, functionName: name, data });
}

async function holds({ session }: World, asset: Asset, who: Hex): Promise<bigint> {
  if (asset === 'native') return session.chain.balance(who);
  const data = encodeFunctionData({ abi: coin, args: [who] });
  return BigInt(await session.chain.read(session.coin, data, START));
}

export const holders = [...parties, 'contract'] as const;
export type Holder = (typeof holders)[number];

/** Native balances of these, then their tokens. */
export async function held(world: World, of: readonly Holder[]): Promise<bigint[]> {
  const all: bigint[] = [];
  for (const asset of ['native', 'token'] as const) {
    for (const each of of) {
      const who = each === 'contract' ? world.session.escrows : addressOf(each);
      all.push(await holds(world, asset, who));
    }
  }
  return all;
}

export async function words(world: World): Promise<readonly bigint[]> {
  const { keys, places } = world.contract;
  const of = keys.map((_, place) => world.escrows[places.indexOf(place)] as Escrow);
  return (await asked(world, 'lanesOf', [of.map(keyOf)])) as bigint[];
}

export async function states(world: World): Promise<bigint[]> {
  const all: bigint[] = [];
  for (const escrow of world.escrows)
    all.push((await asked(world, 'stateOf', args(escrow))) as bigint);
  return all;
}

/** The same by the model, as differences to its beginning. */
export function heldOf({ held }: State, of: readonly Holder[]): bigint[] {
  return [held.native, held.token].flatMap((amounts) => of.map((each) => BigInt(amounts[each])));
}

export function wordsOf({ ids }: World, state: State): bigint[] {
  return state.words.map(({ counter, state, cut }) => {
    const id = BigInt(ids[cut] ?? 0);
    return ((id >> 32n) << 32n) | (BigInt(state) << 30n) | BigInt(counter);
  });
}

/** 0 not funded, 4 ended, 5 void, else as the word has it. */
export function statesOf({ scene, places, cuts }: Contract, { words }: State): bigint[] {
  return scene.escrows.map(({ counter }, index) => {
    const word = words[places[index] as number];
    if (word === undefined || word.counter < counter) return 0n;
    if (word.counter > counter) return 4n;
    return word.cut === cuts[index] ? BigInt(word.state) : 5n;
  });
}
