// The TRON simulator as a chain of the dev network: contracts and tokens on it, a faucet, a rhythm
// of blocks and a clock that moves.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import devDollar from '../../contracts/evm/artifacts/DevDollar.json' with { type: 'json' };
import devTether from '../../contracts/evm/artifacts/DevTether.json' with { type: 'json' };
import feeToken from '../../contracts/evm/artifacts/FeeToken.json' with { type: 'json' };
import returnsFalse from '../../contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import { initCode } from '../../contracts/tron/artifacts/abi.ts';
import type { ChainHead, ChainInfo, DevChain, DevToken, Gift, Log } from '../dev-chain.ts';
import { RefusedRequest } from '../failure.ts';
import { idleSeconds } from '../pace.ts';
import type { TronChain } from './chain.ts';
import { deployedAddress } from './messages.ts';
import { base58Address, FormatError, type Message, parseAddress } from './protobuf.ts';
import { Refusal } from './refusal.ts';
import { defaultSolidityLag, faucetAddress, type Simulator, startSimulator } from './simulator.ts';

export type TronChainOptions = {
  readonly dir: string;
  readonly log: Log;
  /** Unix seconds, as the dev network's clock has them. */
  readonly clock: { now(): number };
  readonly port?: number;
  /** Blocks until a block is solid. */
  readonly solidityLag?: number;
};

export type TronDevChain = DevChain & {
  readonly info: ChainInfo & { readonly chainId: number; readonly escrows: string };
  readonly simulator: Simulator;
};

const sun = 1_000_000n;
const defaultGiftSun = 10_000n * sun;
const giftLimitSun = 10_000_000n * sun;
const defaultGiftTokens = 1_000_000n;
const giftLimitTokens = 1_000_000_000n;

const bytecodes: Readonly<Record<string, string>> = {
  ParleyEscrows: initCode,
  ReturnsFalse: returnsFalse.bytecode,
  DevDollar: devDollar.bytecode,
  DevTether: devTether.bytecode,
  FeeToken: feeToken.bytecode,
};
/** The first is what TRON's USDT is: it moves the money and answers false. */
const toTrade = ['ReturnsFalse', 'DevDollar'];
const hostile = ['DevTether', 'FeeToken'];

export async function tronChain(chain: string, options: TronChainOptions): Promise<TronDevChain> {
  const { clock, solidityLag = defaultSolidityLag } = options;
  const simulator = await startSimulator({
    dir: options.dir,
    log: options.log,
    nowMs: () => clock.now() * 1_000 + (Date.now() % 1_000),
    solidityLag,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  const contracts = await deployed(simulator);
  const describe = (name: string) =>
    described(simulator.chain, name, contracts.get(name) as string);
  const tokens = await Promise.all(toTrade.map(describe));
  const hostileTokens = await Promise.all(hostile.map(describe));
  const { rhythm, mine } = mining(simulator, solidityLag);
  await mine(solidityLag + 1); // what was deployed is solid
  return {
    info: {
      chain,
      family: 'tron',
      rpcUrl: simulator.url,
      chainId: simulator.chain.chainId,
      node: { name: 'parley-tron-simulator', version: '1' },
      escrows: shown(contracts.get('ParleyEscrows') as string),
      tokens,
      hostileTokens,
    },
    nativeSymbol: 'TRX',
    simulator,
    head: async () => headOf(simulator.chain),
    mine,
    tick: rhythm,
    give: (gift) => give(simulator, [...tokens, ...hostileTokens], gift),
    moveTo: () => mine(1), // the clock has moved already
    setAutomatic: async (automatic) => simulator.setAutomatic(automatic),
    stop: () => simulator.stop(),
  };
}

function shown(hex: string): string {
  return base58Address(hexToBytes(`41${hex}`));
}

function headOf(chain: TronChain): ChainHead {
  const { number, timestamp } = chain.tip('head').header;
  const time = Math.floor(timestamp / 1_000);
  return { height: number, time, medianTime: time };
}

/** After anything happened a block a tick until it is solid; otherwise one now and then. */
function mining({ chain, isAutomatic }: Simulator, solidityLag: number) {
  let seen = chain.tip('head').header.number;
  let calmAt = seen;
  let minedAtMs = performance.now();
  const look = () => {
    for (const top = chain.tip('head').header.number; seen < top; ) {
      seen += 1;
      const busy = (chain.block(seen)?.transactions.length ?? 0) > 0;
      if (busy) calmAt = seen + solidityLag;
    }
  };
  const mine = async (blocks: number) => {
    for (let n = 0; n < blocks; n++) await chain.mine();
    minedAtMs = performance.now();
    look();
  };
  const rhythm = async () => {
    look();
    const idleMs = performance.now() - minedAtMs;
    const due = seen < calmAt || chain.pending() > 0 || idleMs >= idleSeconds * 1_000;
    if (isAutomatic() && due) await mine(1);
  };
  return { mine, rhythm };
}

/** Contract name -> 20 bytes in hex; deploys what the chain does not have yet. */
async function deployed(simulator: Simulator): Promise<Map<string, string>> {
  const found = await simulator.chain.look('head', async ({ state }) => {
    const names = new Map<string, string>();
    for (const key of state.keys()) {
      if (!key.startsWith('contract/')) continue;
      const { name, origin_address } = JSON.parse(state.get(key) ?? '{}') as Record<string, string>;
      if (origin_address === faucetAddress && name) names.set(name, key.slice('contract/'.length));
    }
    return names;
  });
  const origin = hexToBytes(faucetAddress);
  for (const [name, code] of Object.entries(bytecodes)) {
    if (found.has(name)) continue;
    const new_contract = {
      origin_address: origin,
      bytecode: hexToBytes(code.replace(/^0x/, '')),
      consume_user_resource_percent: 100n,
      name,
    };
    const { txid } = await simulator.sendAsFaucet('CreateSmartContract', { new_contract });
    found.set(name, bytesToHex(deployedAddress(txid, origin).subarray(1)));
  }
  return found;
}

/** What a constant call of a function without parameters answers. */
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
  const [symbol, name, decimals] = await Promise.all(
    ['95d89b41', '06fdde03', '313ce567'].map((selector) => ask(chain, hex, selector)),
  );
  return {
    contract,
    symbol: textIn(symbol as Uint8Array),
    name: textIn(name as Uint8Array),
    decimals: Number(BigInt(`0x${bytesToHex(decimals as Uint8Array)}`)),
    address: shown(hex),
  };
}

async function give(simulator: Simulator, tokens: readonly DevToken[], gift: Gift) {
  const to = receiver(gift.address);
  try {
    if (gift.token === null) {
      const amount = within(gift.amount ?? defaultGiftSun, giftLimitSun, 'sun');
      const contract = { to_address: to, amount };
      const { txid } = await simulator.sendAsFaucet('TransferContract', contract);
      return { txid, amount };
    }
    const { contract, amount } = minting(tokens, gift, to);
    const { txid } = await simulator.sendAsFaucet('TriggerSmartContract', contract);
    return { txid, amount };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new RefusedRequest(409, `The faucet cannot send now: ${error.message}`);
  }
}

function receiver(text: string): Uint8Array {
  const refused = new RefusedRequest(400, `${text} is not a TRON address.`);
  try {
    const bytes = parseAddress(text, !/^41[0-9a-fA-F]{40}$/.test(text));
    if (bytes.length === 21 && bytes[0] === 0x41) return bytes;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  throw refused;
}

/** `mint(address,uint256)` of the dev tokens, open to everyone. */
function minting(tokens: readonly DevToken[], gift: Gift, to: Uint8Array) {
  const known = tokens.find(({ address }) => address === gift.token);
  if (known === undefined) throw new RefusedRequest(400, `The faucet has no token ${gift.token}.`);
  const unit = 10n ** BigInt(known.decimals);
  const amount = within(
    gift.amount ?? defaultGiftTokens * unit,
    giftLimitTokens * unit,
    `units of ${known.symbol}`,
  );
  const words =
    bytesToHex(to.subarray(1)).padStart(64, '0') + amount.toString(16).padStart(64, '0');
  const contract: Message = {
    contract_address: parseAddress(known.address, true),
    data: hexToBytes(`40c10f19${words}`),
  };
  return { contract, amount };
}

function within(amount: bigint, limit: bigint, unit: string): bigint {
  if (amount >= 1n && amount <= limit) return amount;
  throw new RefusedRequest(400, `The faucet gives 1 to ${limit} ${unit} at a time, not ${amount}.`);
}
