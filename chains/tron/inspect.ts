// A look at a token on TRON: every check of ./checks in order, on the chain as its node has it.

import { judgeFace, type Said } from '../tokens/face.ts';
import {
  type Finding,
  found,
  type Inspection,
  notAToken,
  type PowerRules,
} from '../tokens/inspection.ts';
import { hiddenOf, textOf } from '../tokens/text.ts';
import { dataOf } from '../tokens/words.ts';
import { parseTronAddress } from './address.ts';
import {
  type Look,
  nodeSays,
  numberOf,
  otherStorage,
  ranOut,
  tooDear,
  view,
} from './checks/ask.ts';
import { checkPowers, unknownPowers } from './checks/powers.ts';
import { checkRebase, checkTransfer } from './checks/transfer.ts';
import { type Fork, ForkLimit, openForks } from './fork/fork.ts';
import { bareAddress } from './plan.ts';
import type { Watch } from './watch.ts';

export async function inspect(
  watch: Watch,
  text: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const { chain } = watch;
  if (/^\d{1,20}$/.test(text)) throw notAToken(chain, text, 'a TRC-10 asset has no contract');
  const token = parseTronAddress(text);
  const forks = await openForks(watch, signal);
  const look: Look = { watch, token, forks, signal };
  const contract = await triedOr(
    async () => {
      await mustHaveCode(look);
      return checkContract(look);
    },
    (why): Contract => ({
      told: null,
      finding: found('contract', 'wait', why),
    }),
  );
  const { symbol = null, name = null, decimals = null, supply = 0n } = contract.told ?? {};
  const told = { address: token, symbol, name, decimals };
  if (contract.mute) return { ...told, findings: [contract.finding] };
  const powers = await triedOr(
    () => checkPowers(look, rules),
    (why) => unknownPowers(look, why),
  );
  const situation = { supply, mayBeStopped: powers.mayBeStopped };
  const moves =
    supply === 0n
      ? []
      : [
          ...(await triedOr(
            () => checkTransfer(look, situation),
            (why): Finding[] => [found('transfer', 'wait', why)],
          )),
          await triedOr(
            () => checkRebase(look, supply, powers.selectors),
            (why): Finding | null => found('rebase', 'wait', why),
          ),
        ];
  const tried = moves.filter((each) => each !== null);
  return { ...told, findings: [contract.finding, ...tried, ...powers.findings] };
}

/** What a fork cannot do speaks neither for nor against a token: it is looked at again. */
async function triedOr<T>(attempt: () => Promise<T>, otherwise: (why: string) => T | Promise<T>) {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ForkLimit)) throw error;
    return otherwise(`it could not be looked at whole: ${error.message}`);
  }
}

async function mustHaveCode({ watch: { chain }, token, forks: { source } }: Look): Promise<void> {
  const address = bareAddress(token).slice(2);
  if ((await source.code(address)) !== undefined) return;
  const isUsed = (await source.account(address)) !== undefined;
  const why = isUsed ? 'it is an account without a contract' : 'the address was never used';
  throw notAToken(chain, token, why);
}

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

async function judge(look: Look, told: Said, balance: bigint, hidden: string | null) {
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
