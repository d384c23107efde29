// Gas of contract wallets: called by the owner, by ERC-4337, and delegated to by EIP-7702.

import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  maxUint256,
  zeroAddress,
} from 'viem';
import type { Escrow } from '../ids.ts';
import {
  accountOf,
  args,
  artifact,
  claim,
  coinCall,
  coinData,
  encoded,
  escrowOf,
  funder,
  type Session,
  START,
  secretOf,
  third,
} from './session.ts';

const owner = accountOf('owner');
/** Wei that an operation pays to its bundler. */
const OPERATION_FEE = 10n ** 15n;

type Call = { readonly to: Address; readonly value: bigint; readonly data: Hex };

function executing(abi: Abi, calls: readonly Call[]): Hex {
  const [only] = calls;
  return calls.length === 1 && only !== undefined
    ? encodeFunctionData({
        abi,
        functionName: 'execute',
        args: [only.to, only.value, only.data],
      })
    : encodeFunctionData({ abi, functionName: 'executeBatch', args: [calls] });
}

function fundCall(s: Session, escrow: Escrow): Call {
  const { token, amount } = escrow.terms;
  const value = token === zeroAddress ? amount : 0n;
  return { to: s.escrows, value, data: encoded('fund', args(escrow)) };
}

function claimCall(s: Session, escrow: Escrow, n: number): Call {
  return { to: s.escrows, value: 0n, data: encoded('claim', [...args(escrow), secretOf(n)]) };
}

function approveCall(s: Session, amount: bigint): Call {
  return { to: s.coin, value: 0n, data: coinData('approve', [s.escrows, amount]) };
}

/** Sends calls as somebody's account; answers with the gas of the whole transaction. */
type Sends = (calls: readonly Call[]) => Promise<number>;

/** Each on a lane that was used before, and the claims of an escrow that pays the account. */
async function usesOf(s: Session, who: Address, n: number, sends: Sends) {
  const of = (token: Address, lane: number, counter: number, to?: Address) =>
    escrowOf(token, lane, counter, who, to);
  const first = of(zeroAddress, n, 1);
  await sends([fundCall(s, first)]);
  await claim(s, first, n);
  const native = of(zeroAddress, n, 2, who);
  const nativeFund = await sends([fundCall(s, native)]);
  const nativeClaim = await sends([claimCall(s, native, n)]);
  const both = (counter: number) => {
    const escrow = of(s.coin, n, counter);
    return sends([approveCall(s, escrow.terms.amount), fundCall(s, escrow)]);
  };
  const approveAndFund = await both(3);
  await claim(s, of(s.coin, n, 3), n);
  await sends([approveCall(s, maxUint256)]);
  const token = of(s.coin, n, 4, who);
  const tokenFund = await sends([fundCall(s, token)]);
  const tokenClaim = await sends([claimCall(s, token, n)]);
  const paid = of(zeroAddress, n, 5, who);
  await sends([fundCall(s, paid)]);
  const nativePaid = await claim(s, paid, n);
  return { nativeFund, nativeClaim, nativePaid, approveAndFund, tokenFund, tokenClaim };
}

async function wallet(s: Session, entryPoint: Address) {
  const { abi, bytecode } = artifact('DevWallet');
  const deployed = encodeDeployData({ abi, bytecode, args: [owner.address, entryPoint] });
  const at = getAddress(await s.chain.create(deployed, START));
  await s.chain.endow(at, 10n ** 24n);
  await coinCall(s, third.address, 'mint', [at, 10n ** 15n]);
  return { abi, at };
}

async function byOwner(s: Session, n: number) {
  await s.chain.give(owner.address, 10n ** 24n);
  const { abi, at } = await wallet(s, zeroAddress);
  return usesOf(s, at, n, (calls) =>
    s.chain.send({ from: owner.address, to: at, data: executing(abi, calls), at: START }),
  );
}

async function byOperation(s: Session, n: number) {
  const { abi: entryAbi, bytecode } = artifact('DevEntryPoint');
  const entry = getAddress(await s.chain.create(bytecode, START));
  const { abi, at } = await wallet(s, entry);
  const deposit = encodeFunctionData({ abi: entryAbi, functionName: 'depositTo', args: [at] });
  const value = 100n * OPERATION_FEE;
  await s.chain.send({ from: third.address, to: entry, data: deposit, value, at: START });
  let nonce = 0n;
  return usesOf(s, at, n, async (calls) => {
    const callData = executing(abi, calls);
    const unsigned = { sender: at, nonce, callData, fee: OPERATION_FEE, signature: '0x' };
    const asked = encodeFunctionData({ abi: entryAbi, functionName: 'hashOf', args: [unsigned] });
    const hash = await s.chain.read(entry, asked, START);
    const signed = { ...unsigned, signature: await owner.sign({ hash }) };
    const ops = [[signed], third.address];
    const data = encodeFunctionData({ abi: entryAbi, functionName: 'handleOps', args: ops });
    nonce += 1n;
    return s.chain.send({ from: third.address, to: entry, data, at: START });
  });
}

/** The delegation was set before. */
async function byDelegation(s: Session, n: number) {
  const { abi, at } = await wallet(s, zeroAddress);
  const who = accountOf('delegated').address;
  await s.chain.give(who, 10n ** 24n);
  await s.chain.delegate(who, at);
  for (const to of [who, funder.address])
    await coinCall(s, third.address, 'mint', [to, 10n ** 15n]);
  return usesOf(s, who, n, (calls) =>
    s.chain.send({ from: who, to: who, data: executing(abi, calls), at: START }),
  );
}

export async function walletGas(s: Session) {
  const owned = await byOwner(s, 60);
  const operation = await byOperation(s, 61);
  const delegated = await byDelegation(s, 62);
  return {
    'native fund by a contract wallet': owned.nativeFund,
    'native claim by a contract wallet': owned.nativeClaim,
    'native claim that pays a contract wallet': owned.nativePaid,
    'token fund by a contract wallet, allowance standing': owned.tokenFund,
    'token fund and approval by a contract wallet, one transaction': owned.approveAndFund,
    'token claim by a contract wallet': owned.tokenClaim,
    'native fund by an ERC-4337 operation': operation.nativeFund,
    'native claim by an ERC-4337 operation': operation.nativeClaim,
    'token fund and approval by an ERC-4337 operation': operation.approveAndFund,
    'token claim by an ERC-4337 operation': operation.tokenClaim,
    'token fund and approval in one batch, a delegated account': delegated.approveAndFund,
    'token claim by a delegated account': delegated.tokenClaim,
  };
}
