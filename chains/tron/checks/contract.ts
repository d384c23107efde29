// Whether there is a token at the address at all, and what it says of itself.

import { judgeFace, type Said } from '../../tokens/face.ts';
import { type Finding, found, notAToken } from '../../tokens/inspection.ts';
import { hiddenOf, textOf } from '../../tokens/text.ts';
import { dataOf } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import { type Look, nodeSays, numberOf, otherStorage, ranOut, tooDear, view } from './ask.ts';

const check = 'contract';

export type Contract = {
  readonly told: Said | null;
  readonly finding: Finding;
  readonly mute?: true;
};

export async function checkContract(look: Look): Promise<Contract> {
  const fork = await look.forks.fork();
  const asked = [
    ['totalSupply()', dataOf('totalSupply()')],
    ['balanceOf(address)', dataOf('balanceOf(address)', fork.stranger())],
    ['decimals()', dataOf('decimals()')],
  ] as const;
  const numbers: bigint[] = [];
  for (const [name, data] of asked) {
    const trial = await view(fork, look.token, data);
    if (ranOut(trial)) {
      const finding = found(check, 'reject', `its ${name} ${tooDear}`);
      return { told: null, finding, mute: true };
    }
    const number = numberOf(trial);
    if (number === null) throw await noAnswer(look, name, data);
    numbers.push(number);
  }
  const [supply = 0n, balance = 0n, decimals = 0n] = numbers;
  if (decimals > 255n) {
    throw notAToken(look.watch.chain, look.token, 'its decimals() are no number of TRC-20');
  }
  const { hidden, ...names } = await namesOf(fork, look.token);
  const told = { ...names, supply, decimals: Number(decimals) };
  return { told, finding: await judge(look, told, balance, hidden) };
}

async function namesOf(fork: Fork, token: string) {
  const text = async (signature: string) => {
    const { failure, output } = await view(fork, token, dataOf(signature));
    return failure === null ? `0x${output}` : null;
  };
  const symbol = await text('symbol()');
  const name = textOf(await text('name()'));
  return { symbol: textOf(symbol), name, hidden: hiddenOf(symbol) };
}

async function judge(
  look: Look,
  told: Said,
  balance: bigint,
  hidden: string | null,
): Promise<Finding> {
  if (told.supply === 0n) {
    const other = await nodeSays(look, dataOf('totalSupply()'));
    if (other !== null && other !== 0n) throw otherStorage(look.watch.chain);
  }
  return judgeFace(told, balance, hidden);
}

/** A function that a token must have does not answer on the fork. Does it on the node? */
async function noAnswer(look: Look, name: string, data: string): Promise<Error> {
  const { chain } = look.watch;
  if ((await nodeSays(look, data)) !== null) return otherStorage(chain);
  return notAToken(chain, look.token, `the contract there does not answer ${name}`);
}
