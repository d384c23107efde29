// The contracts on the TRON dev chain from its start: escrow contract, tokens, and hostile tokens.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import devDollar from '@parley/contracts/evm/artifacts/DevDollar.json' with { type: 'json' };
import devTether from '@parley/contracts/evm/artifacts/DevTether.json' with { type: 'json' };
import feeToken from '@parley/contracts/evm/artifacts/FeeToken.json' with { type: 'json' };
import returnsFalse from '@parley/contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import type { TronChain } from '../simulators/tron/chain.ts';
import { deployedAddress } from '../simulators/tron/messages.ts';
import { base58Address } from '../simulators/tron/protobuf.ts';
import { faucetAddress, type Simulator } from '../simulators/tron/simulator.ts';
import type { DevToken } from './dev-chain.ts';

const escrowsName = 'ParleyEscrows';
/** The first is what TRON's USDT is: it moves the money and answers false. */
const toTrade = { ReturnsFalse: returnsFalse, DevDollar: devDollar };
const hostile = { DevTether: devTether, FeeToken: feeToken };

export type TronContracts = {
  readonly escrows: string;
  readonly escrowsCreation: string;
  readonly tokens: readonly DevToken[];
  readonly hostileTokens: readonly DevToken[];
};

export async function deployContracts(simulator: Simulator): Promise<TronContracts> {
  const found = await findContracts(simulator);
  const place = (name: string, bytecode: string) => placeOf(simulator, found, name, bytecode);
  const escrows = await place(escrowsName, initCode);
  const tokensOf = async (some: Readonly<Record<string, { bytecode: string }>>) => {
    const tokens: DevToken[] = [];
    for (const [name, { bytecode }] of Object.entries(some)) {
      tokens.push(await described(simulator.chain, name, await place(name, bytecode)));
    }
    return tokens;
  };
  return {
    escrows: shown(escrows),
    escrowsCreation: creationOf(simulator.chain, escrows),
    tokens: await tokensOf(toTrade),
    hostileTokens: await tokensOf(hostile),
  };
}

type Deployed = { readonly hex: string; readonly name: string; readonly bytecode: string };

/** The contracts that the faucet has deployed: 20 bytes in hex, name and creation code. */
function findContracts({ chain }: Simulator): Promise<readonly Deployed[]> {
  return chain.look('head', async ({ state }) => {
    const found: Deployed[] = [];
    for (const key of state.keys()) {
      if (!key.startsWith('contract/')) continue;
      const contract = JSON.parse(state.get(key) ?? '{}') as Record<string, string>;
      const { name = '', bytecode = '', origin_address } = contract;
      if (origin_address === faucetAddress) found.push({ hex: key.slice(9), name, bytecode });
    }
    return found;
  });
}

/** The transaction that created what is there: one of the first. */
function creationOf(chain: TronChain, hex: string): string {
  for (let at = 1; at <= chain.tip('head').header.number; at += 1) {
    for (const { info } of chain.block(at)?.transactions ?? []) {
      if (info.contract_address === `41${hex}`) return info.id;
    }
  }
  throw new Error(`no transaction created ${shown(hex)}`);
}

/** Another version of the code is not the contract. */
async function placeOf(
  simulator: Simulator,
  found: readonly Deployed[],
  name: string,
  code: string,
): Promise<string> {
  const bytecode = code.replace(/^0x/, '');
  const known = found.find((each) => each.name === name && each.bytecode === bytecode);
  if (known !== undefined) return known.hex;
  const origin = hexToBytes(faucetAddress);
  const new_contract = {
    origin_address: origin,
    bytecode: hexToBytes(bytecode),
    consume_user_resource_percent: 100n,
    name,
  };
  const { txid } = await simulator.sendAsFaucet('CreateSmartContract', { new_contract });
  return bytesToHex(deployedAddress(txid, origin).subarray(1));
}

function shown(hex: string): string {
  return base58Address(hexToBytes(`41${hex}`));
}

/** The answer to a constant call of a function without parameters. */
async function ask(chain: TronChain, hex: string, selector: string): Promise<Uint8Array> {
  return chain.look('head', async ({ tvm }, { number, timestampMs }) => {
    const result = await tvm.run({
      caller: new Uint8Array(20),
      to: hexToBytes(hex),
      value: 0n,
      data: hexToBytes(selector),
      energyLimit: 1_000_000n,
      txid: new Uint8Array(32),
      block: { number, timestamp: BigInt(Math.floor(timestampMs / 1_000)) },
    });
    return result.output;
  });
}

/** ABI: where it begins, how long it is, and the bytes. */
function textIn(answer: Uint8Array): string {
  const length = Number(BigInt(`0x${bytesToHex(answer.subarray(32, 64))}`));
  return new TextDecoder().decode(answer.subarray(64, 64 + length));
}

async function described(chain: TronChain, contract: string, hex: string): Promise<DevToken> {
  const [symbol, name, decimals] = await Promise.all([
    ask(chain, hex, '95d89b41'),
    ask(chain, hex, '06fdde03'),
    ask(chain, hex, '313ce567'),
  ]);
  return {
    contract,
    symbol: textIn(symbol),
    name: textIn(name),
    decimals: Number(BigInt(`0x${bytesToHex(decimals)}`)),
    address: shown(hex),
  };
}
