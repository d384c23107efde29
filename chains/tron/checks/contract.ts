// Whether there is a token at the address at all, and what it says of itself.

import { type Finding, found, notAToken, passed } from '../../inspection.ts';
import { bytesOf, decodeText, mostDecimals } from '../../token-code.ts';
import type { Fork } from '../fork/fork.ts';
import {
  dataOf,
  type Look,
  nodeSays,
  numberOf,
  otherStorage,
  ranOut,
  tooDear,
  view,
} from './ask.ts';

export type Told = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Base units; 0 where it could not be read. */
  readonly supply: bigint;
};

const check = 'contract';
const nothing: Told = { symbol: '', name: '', decimals: 0, supply: 0n };

export type Contract = {
  readonly told: Told;
  readonly finding: Finding;
  /** Nothing else can be asked of it. */
  readonly mute?: true;
};

/** Throws `not_a_token` where a wallet could not even show a balance. */
export async function checkContract(look: Look): Promise<Contract> {
  const fork = await look.forks.fork();
  const asked = [
    ['totalSupply()', dataOf('totalSupply()')],
    ['balanceOf(address)', dataOf('balanceOf(address)', fork.stranger())],
  ] as const;
  const numbers: bigint[] = [];
  for (const [name, data] of asked) {
    const trial = await view(fork, look.token, data);
    if (ranOut(trial)) {
      const finding = found(check, 'reject', `its ${name} ${tooDear}`);
      return { told: nothing, finding, mute: true };
    }
    const number = numberOf(trial);
    if (number === null) throw await noAnswer(look, name, data);
    numbers.push(number);
  }
  const [supply = 0n] = numbers;
  const told = { ...(await namesOf(fork, look.token)), supply };
  const { decimals } = told;
  const finding =
    decimals === null || decimals > BigInt(mostDecimals)
      ? found(check, 'reject', decimalsOf(decimals))
      : await supplied(look, told);
  const known = decimals !== null && decimals <= BigInt(mostDecimals);
  return { told: { ...told, decimals: known ? Number(decimals) : 0 }, finding };
}

function decimalsOf(decimals: bigint | null): string {
  if (decimals === null) return 'it does not say its decimals';
  const some = decimals > 255n ? 'more than 255' : `${decimals}`;
  return `it has ${some} decimals, and the most is ${mostDecimals}`;
}

async function namesOf(fork: Fork, token: string) {
  const text = async (signature: string) => {
    const { failure, output } = await view(fork, token, dataOf(signature));
    return failure === null ? (decodeText(bytesOf(output)) ?? '') : '';
  };
  const symbol = await text('symbol()');
  const name = await text('name()');
  return { symbol, name, decimals: numberOf(await view(fork, token, dataOf('decimals()'))) };
}

async function supplied(look: Look, { symbol, supply }: Pick<Told, 'symbol' | 'supply'>) {
  if (supply === 0n) {
    const other = await nodeSays(look, dataOf('totalSupply()'));
    if (other !== null && other !== 0n) throw otherStorage(look.watch.chain);
    return found(check, 'wait', 'its total supply is 0: nobody has any of it');
  }
  return symbol === '' ? found(check, 'wait', 'it does not say its symbol') : passed(check);
}

/** A function that a token must have does not answer on the fork. Does it on the node? */
async function noAnswer(look: Look, name: string, data: string): Promise<Error> {
  const { chain } = look.watch;
  if ((await nodeSays(look, data)) !== null) return otherStorage(chain);
  return notAToken(chain, look.token, `the contract there does not answer ${name}`);
}
