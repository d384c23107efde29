// Which signatures a token takes, tried by eth_call with keys that are thrown away. DAI's are not
// taken.

import { randomBytes } from '@noble/hashes/utils.js';
import { mostNameLength } from '@parley/tokens/inspection.ts';
import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, decodeAbiParameters, decodeFunctionResult, numberToHex } from 'viem/utils';
import { parseSignature, separatorOf, typedDataToSign } from '../escrows/typed-data.ts';
import type { TokenAbilities } from '../interface/fund-ways.ts';
import type { TokenDomain, TypedData } from '../interface/material.ts';
import { gathering } from '../nodes/gathering.ts';
import { isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import { trialAbi, trialCode } from './artifacts/trial.ts';
import { ask, askWord, callData, questionGas } from './ask.ts';
import { codeAt, refused } from './node.ts';
import type { EvmDeployment } from './plan.ts';
import { lendBalance, type Overrides, stranger } from './simulate.ts';
import { authorizationData, checkDomain, noAbilities, permitData } from './ways.ts';

export type Trying = {
  readonly rpc: Rpc;
  readonly deployment: EvmDeployment;
  readonly token: string;
};

/** No clock comes so far, and any number type of a token holds it. */
const farAhead = 2 ** 40;
const stepGas = BigInt(questionGas);

export async function findAbilities(asked: Trying, signal: AbortSignal): Promise<TokenAbilities> {
  const trying = { ...asked, rpc: gathering(asked.rpc, signal) };
  const domain = await domainOf(trying, signal);
  if (domain === null) return noAbilities;
  const [permits, authorizes] = await Promise.all([
    takesPermits(trying, domain, signal),
    takesAuthorizations(trying, domain, signal),
  ]);
  return { permit: permits ? domain : null, authorization: authorizes ? domain : null };
}

/** Never one of another contract or chain, whatever the token says. */
async function domainOf({ rpc, deployment, token }: Trying, signal: AbortSignal) {
  const answerTo = (signature: string) => ask(rpc, token, callData(signature), signal);
  const [separator, name, ...versions] = await Promise.all([
    answerTo('DOMAIN_SEPARATOR()'),
    answerTo('name()'),
    answerTo('version()'),
    answerTo('ERC712_VERSION()'),
  ]);
  if (separator?.length !== 66) return null;
  const candidates = usualDomains(stringIn(name), versions.map(stringIn), deployment, token);
  const isOwn = (domain: TokenDomain) =>
    checkDomain(domain, { token }, deployment, separator).length === 0;
  return candidates.find(isOwn) ?? null;
}

function usualDomains(
  name: string | null,
  told: readonly (string | null)[],
  { chainId }: EvmDeployment,
  verifyingContract: string,
): TokenDomain[] {
  if (name === null) return [];
  const known = told.filter((each) => each !== null);
  const versions = [...known, '1', '2', null].map((version) =>
    version === null ? {} : { version },
  );
  const salt = numberToHex(chainId, { size: 32 });
  return versions.flatMap((version) => [
    { name, ...version, chainId: `${chainId}`, verifyingContract },
    { name, ...version, verifyingContract, salt },
  ]);
}

/** Hex digits of a name or a version, and no more.*/
const longestText = 4_096;

/** A text of the ABI, as it is: a character less would be another hash. */
function stringIn(answer: Hex | null): string | null {
  if (answer === null || answer.length > longestText) return null;
  try {
    const [text] = decodeAbiParameters([{ type: 'string' }], answer);
    return text !== '' && isShowable(text) ? text : null;
  } catch {
    return null;
  }
}

/** The text that a wallet shows in a line, and that can be kept. */
function isShowable(text: string): boolean {
  return text.length <= mostNameLength && !/[\p{Cc}\p{Cs}\uFFFD]/u.test(text);
}

const permitAbi = parseAbi([
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
  'function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
]);

/** Bytes of which nobody can know any. */
const randomHex = (length: number): Hex => bytesToHex(randomBytes(length));

const newKey = (): PrivateKeyAccount => privateKeyToAccount(randomHex(32));

/** The value that an allowance has by chance in one of 2^32 tokens. */
const newValue = (): bigint => 1n + BigInt(randomHex(4));

async function partsOf(by: PrivateKeyAccount, typedData: TypedData) {
  const { v, r, s } = parseSignature(await by.signTypedData(typedDataToSign(typedData)));
  return [v, r, s] as const;
}

async function permitCall(
  { deployment }: Trying,
  domain: TokenDomain,
  { owner, by, value, nonce }: Permit,
): Promise<Hex> {
  const spender = deployment.contract as Hex;
  const values = { nonce, value, deadline: farAhead };
  const parts = await partsOf(by, permitData(domain, owner, spender, values));
  const args = [owner, spender, value, BigInt(farAhead), ...parts] as const;
  return encodeFunctionData({ abi: permitAbi, functionName: 'permit', args });
}

type Permit = {
  readonly owner: Hex;
  readonly by: PrivateKeyAccount;
  readonly value: bigint;
  readonly nonce: bigint;
};

async function authorizationCall(
  trying: Trying,
  domain: TokenDomain,
  { from, by, value }: { readonly from: Hex; readonly by: PrivateKeyAccount; value: bigint },
): Promise<Hex> {
  const to = trying.deployment.contract as Hex;
  const nonce = randomHex(32);
  const values = { value, validBefore: farAhead, nonce };
  const parts = await partsOf(by, authorizationData(domain, from, to, values));
  const args = [from, to, value, 0n, BigInt(farAhead), nonce, ...parts] as const;
  return encodeFunctionData({ abi: permitAbi, functionName: 'receiveWithAuthorization', args });
}

export const noncesCall = (owner: string) => callData('nonces(address)', owner);

async function takesPermits(trying: Trying, domain: TokenDomain, signal: AbortSignal) {
  const { rpc, token } = trying;
  const account = newKey();
  const other = newKey();
  const owner = account.address;
  const nonce = await askWord(rpc, token, noncesCall(owner), signal);
  if (nonce === null) return false;
  const permit = { owner, value: newValue(), nonce };
  const [right, wrong] = await Promise.all(
    [account, other].map((by) => permitCall(trying, domain, { ...permit, by })),
  );
  const [byOwner, byOther] = await Promise.all(
    [right, wrong].map((call = '0x') => allowsAfter(trying, call, permit, signal)),
  );
  return byOwner === true && byOther === false;
}

async function allowsAfter(
  trying: Trying,
  permit: Hex,
  { owner, value }: Pick<Permit, 'owner' | 'value'>,
  signal: AbortSignal,
): Promise<boolean> {
  const steps = [permit, allowanceCall(trying, owner)].map(byContract);
  const answers = await inOneCall(trying, steps, signal).catch((error: unknown) => {
    throw error instanceof RpcError ? refused(trying.rpc, 'eth_call', error) : error;
  });
  return answers.length === steps.length && wordIn(answers.at(-1)) === value;
}

function allowanceCall({ deployment }: Trying, owner: Hex): Hex {
  const args = [owner, deployment.contract as Hex] as const;
  return encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args });
}

async function takesAuthorizations(trying: Trying, domain: TokenDomain, signal: AbortSignal) {
  const { rpc, token } = trying;
  const { contract } = trying.deployment;
  const account = newKey();
  const other = newKey();
  const from = account.address;
  const triedWith = async (value: bigint, lent: Overrides | null) => {
    const works = async (by: PrivateKeyAccount, sender: string) => {
      const data = await authorizationCall(trying, domain, { from, by, value });
      return succeeds(trying, { data, from: sender }, lent, signal);
    };
    // Brought by others it would take the funder's money here, and open no escrow. Such a token may
    // want a contract, or none: one of these has code.
    const [right, ...rest] = await Promise.all([
      works(account, contract),
      works(other, contract),
      works(account, stranger),
      works(account, token),
    ]);
    return right && !rest.includes(true);
  };
  if (await triedWith(0n, null)) return true;
  // Some tokens move no nothing.
  const lent = await lendBalance(rpc, token, from, 1n, signal);
  return lent !== null && triedWith(1n, lent);
}

async function succeeds(
  { rpc, token }: Trying,
  { data, from }: { readonly data: Hex; readonly from: string },
  lent: Overrides | null,
  signal: AbortSignal,
): Promise<boolean> {
  const call = { from, to: token, data, gas: questionGas };
  const params = lent === null ? [call, 'latest'] : [call, 'latest', lent];
  try {
    await rpc.call('eth_call', params, signal);
    return true;
  } catch (error) {
    if (isCallFailure(error)) return false;
    throw error instanceof RpcError ? refused(rpc, 'eth_call', error) : error;
  }
}

type Step = { readonly data: Hex; readonly isByOther: boolean };

const byContract = (data: Hex): Step => ({ data, isByOther: false });

// Ends with the first that fails, which has no answer here. Throws RpcError on a node's refusal.
async function inOneCall(
  { rpc, deployment, token }: Trying,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Hex[]> {
  const contract = deployment.contract as Hex;
  const told = steps.map(({ data, isByOther }) => {
    const actor = isByOther ? (stranger as Hex) : contract;
    return { actor, to: token as Hex, data, gasMost: stepGas };
  });
  const data = encodeFunctionData({ abi: trialAbi, functionName: 'run', args: [told] });
  const gas = (stepGas + 100_000n) * BigInt(steps.length + 1);
  const call = { from: stranger, to: contract, data, gas: numberToHex(gas) };
  const lent: Overrides = { [contract]: { code: trialCode }, [stranger]: { code: trialCode } };
  try {
    const answer = await rpc.call('eth_call', [call, 'latest', lent], signal);
    const answers = decodeFunctionResult({
      abi: trialAbi,
      functionName: 'run',
      data: answer as Hex,
    });
    return [...answers];
  } catch (error) {
    if (isCallFailure(error)) return [];
    throw error;
  }
}

function wordIn(answer: Hex | undefined): bigint | null {
  return answer === undefined || answer.length < 66 ? null : BigInt(answer.slice(0, 66));
}

export async function nonceOf(
  { rpc, token }: Trying,
  funder: string,
  signal: AbortSignal,
): Promise<bigint> {
  return (await askWord(rpc, token, noncesCall(funder), signal)) ?? 0n;
}

/**
 * Whether only a key signs for an account. If it has code, which its holder may have lent it
 * (EIP-7702), some tokens ask the code (USDC 2.2, by EIP-1271), and the escrows ask the key.
 */
export async function signsByKey(rpc: Rpc, account: string, signal: AbortSignal): Promise<boolean> {
  return (await codeAt(rpc, account, 'latest', signal)) === '0x';
}

/** The funder's nonce; null: the token may have changed, or the node lends no code. */
export async function stillAble(
  trying: Trying,
  { permit, authorization }: TokenAbilities,
  funder: string,
  signal: AbortSignal,
): Promise<bigint | null> {
  const account = newKey();
  const owner = account.address;
  const value = newValue();
  const steps = [callData('DOMAIN_SEPARATOR()')].map(byContract);
  if (permit !== null) {
    const call = await permitCall(trying, permit, { owner, by: account, value, nonce: 0n });
    steps.push(...[noncesCall(funder), call, allowanceCall(trying, owner)].map(byContract));
  }
  let works = steps.length;
  if (authorization !== null) {
    const moved = { from: owner, by: account, value: 0n };
    const [own, others] = await Promise.all(
      [0, 1].map(() => authorizationCall(trying, authorization, moved)),
    );
    steps.push(byContract(own ?? '0x'), { data: others ?? '0x', isByOther: true });
    // The last of them must fail.
    works += 1;
  }
  const answers = await inOneCall(trying, steps, signal).catch((error: unknown) => {
    if (error instanceof RpcError) return [];
    throw error;
  });
  if (answers.length !== works) return null;
  const domain = permit ?? authorization;
  if (domain === null || answers[0] !== separatorOf(domain)) return null;
  if (permit === null) return 0n;
  const nonce = wordIn(answers[1]);
  return wordIn(answers[3]) === value ? nonce : null;
}
