// A look at a token on TRON: every check of ./checks in order, on the chain as its node has it.

import {
  type Finding,
  found,
  type Inspection,
  notAToken,
  type PowerRules,
} from '../tokens/inspection.ts';
import { parseTronAddress } from './address.ts';
import type { Look } from './checks/ask.ts';
import { type Contract, checkContract } from './checks/contract.ts';
import { checkPowers, unknownPowers } from './checks/powers.ts';
import { checkRebase } from './checks/rebase.ts';
import { checkTransfer } from './checks/transfer.ts';
import { openForks } from './fork/fork.ts';
import { ForkLimit } from './fork/source.ts';
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
async function triedOr<T>(
  attempt: () => Promise<T>,
  otherwise: (why: string) => T | Promise<T>,
): Promise<T> {
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
