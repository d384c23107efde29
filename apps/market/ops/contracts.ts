// `ops contracts`: the escrow contracts of EVM and TRON, what is open in each, and which may be
// taken out of the settings. docs/deploy.md has the steps.

import { type InContract, openInContracts } from '../db/escrows.ts';
import { openOne } from '../ports/chains.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { readSettings, type Settings } from '../settings/config.ts';
import { findChains } from './doctor.ts';
import { print, reading } from './operator.ts';

type Role = 'open' | 'former' | 'unnamed';

type ShownContract = Omit<InContract, 'lastTimelock'> & {
  readonly role: Role;
  /** RFC 3339: the last refund that may still come is possible from then on; null = none. */
  readonly lastTimelock: string | null;
  /** The contract holds no open swap, and it takes no new one. */
  readonly mayLeave: boolean;
};

/** By chain, of the settings. */
function named(chains: readonly ChainSettings[], settings: Settings) {
  const silent = () => undefined;
  const log = { info: silent, warn: silent, error: silent };
  const parts = { now: Date.now, log: log as never };
  return chains.flatMap((each) => {
    const { lanes } = openOne(each, settings, parts).adapter;
    return (lanes?.contracts ?? []).map((contract) => {
      const role: Role = lanes?.open.includes(contract) ? 'open' : 'former';
      return { chain: each.chain, contract, role };
    });
  });
}

export function contractsOf(
  known: ReturnType<typeof named>,
  found: readonly InContract[],
): ShownContract[] {
  const served = new Set(known.map(({ chain }) => chain));
  const isKnown = ({ chain, contract }: InContract) =>
    known.some((each) => each.chain === chain && each.contract === contract);
  const unnamed = found
    .filter((each) => served.has(each.chain) && !isKnown(each))
    .map(({ chain, contract }) => ({ chain, contract, role: 'unnamed' as const }));
  return [...known, ...unnamed].map((each) => {
    const own = found.find(({ chain, contract }) => {
      return chain === each.chain && contract === each.contract;
    });
    const { followed = 0, funded = 0, lastTimelock = null } = own ?? {};
    const last = lastTimelock === null ? null : new Date(lastTimelock * 1_000).toISOString();
    const mayLeave = each.role === 'former' && followed === 0;
    return { ...each, followed, funded, lastTimelock: last, mayLeave };
  });
}

function line({ chain, contract, role, followed, funded, lastTimelock, mayLeave }: ShownContract) {
  const last = lastTimelock === null ? '' : `, the last timelock ends ${lastTimelock}`;
  const leaves = mayLeave ? '; may be taken out' : '';
  const open = `${followed} escrows of open swaps, ${funded} of them funded${last}`;
  return `${chain}  ${contract}  ${role.padEnd(7)}  ${open}${leaves}`;
}

export async function contracts(
  json: boolean,
  { leave = null }: { readonly leave?: string | null | undefined },
): Promise<number> {
  const settings = readSettings(process.env);
  const chains = await findChains(settings);
  if ('severity' in chains) throw new Error(`${chains.says}: ${chains.todo}`);
  const all = contractsOf(named(chains.chains, settings), await reading(openInContracts));
  const isMeant = ({ contract }: ShownContract) =>
    leave === null || contract.toLowerCase() === leave.toLowerCase();
  const shown = all.filter(isMeant);
  if (shown.length === 0 && leave !== null) throw new Error(`there is no contract ${leave}`);
  for (const each of shown) print(json ? JSON.stringify(each) : line(each));
  if (shown.length === 0 && !json) print('no chain has an escrow contract');
  const isWell =
    leave === null
      ? shown.every(({ role }) => role !== 'unnamed')
      : shown.every(({ mayLeave }) => mayLeave);
  return isWell ? 0 : 1;
}
