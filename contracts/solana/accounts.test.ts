// Every account of every instruction, replaced by every other that might pass for it: every
// replacement fails, and no coin moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, Instruction } from '@solana/kit';
import {
  claim,
  PROGRAM,
  refund,
  SYSTEM,
  sha256,
  TOKEN,
  TOKEN_2022,
  withAccount,
  withRole,
} from './testing/instructions.ts';
import {
  AMOUNT,
  type Asset,
  accepted,
  assets,
  createSwap,
  expire,
  fund,
  release,
  type Swap,
  secret,
  swapIn,
} from './testing/swaps.ts';
import { addressNamed, makeHolding, makeMint } from './testing/tokens.ts';
import { dataOf, ownerOf, person, send, setAccount } from './testing/vm.ts';

const otherSecret = sha256(Buffer.from('another secret'));
const CLOCK = 'SysvarC1ock11111111111111111111111111111111' as Address;

type Scene = {
  readonly swap: Swap;
  /** An escrow of the same people and asset, with a hashlock of its own, funded as well. */
  readonly other: Swap;
  /** Addresses that someone might put in the place of an account. */
  readonly wrong: ReadonlyMap<string, Address>;
};

async function createScene(asset: Asset, isFunded: boolean): Promise<Scene> {
  const swap = await createSwap(asset);
  const other = await swapIn(swap.world, asset, { hashlock: sha256(otherSecret) });
  for (const each of isFunded ? [swap, other] : [other]) await accepted(fund(each));
  const wrong = new Map<string, Address>([
    ['the other escrow', other.escrow.escrow],
    ['the sender', swap.world.sender.address],
    ['a stranger without an account', (await person('stranger')).address],
    ['the funder', swap.funder.address],
    ['the payee', swap.payee.address],
    ['the program', PROGRAM],
    ['the system program', SYSTEM],
    ['the clock', CLOCK],
    ['the token program', TOKEN],
    ['Token-2022', TOKEN_2022],
  ]);
  if (asset !== 'SOL') for (const each of tokenAccounts(swap, other)) wrong.set(...each);
  return { swap, other, wrong };
}

function tokenAccounts(swap: Swap, other: Swap): readonly (readonly [string, Address])[] {
  const { world, terms, escrow } = swap;
  const program = escrow.tokenProgram;
  const otherProgram = program === TOKEN ? TOKEN_2022 : TOKEN;
  const mint = makeMint(world, 'another mint', program);
  const hold = (owner: Address, name: string, of = mint, by = program) =>
    makeHolding(world, { mint: of, owner, name, program: by, amount: AMOUNT });
  // Right in every byte, but nobody's token account.
  const pretend = (owner: Address): Address => {
    const at = addressNamed(`pretended by another program ${owner}`);
    setAccount(world, at, PROGRAM, dataOf(world, hold(owner, 'pretended', terms.mint))!);
    return at;
  };
  const short = (owner: Address): Address => {
    const at = addressNamed(`short ${owner}`);
    setAccount(world, at, program, dataOf(world, hold(owner, 'cut', terms.mint))!.subarray(0, 100));
    return at;
  };
  const people = { payout: terms.payout, refund: terms.refund, sender: world.sender.address };
  return [
    ['the other vault', other.escrow.vault],
    ['another mint', mint],
    ['tokens of the sender', hold(world.sender.address, '', terms.mint)],
    ...Object.entries(people).flatMap(
      ([who, owner]) =>
        [
          [`another token of ${who}`, hold(owner, '')],
          [`other program of ${who}`, hold(owner, '2', terms.mint, otherProgram)],
          [`pretended of ${who}`, pretend(owner)],
          [`short of ${who}`, short(owner)],
        ] as const,
    ),
  ];
}

const accountsOf = (instruction: Instruction) => instruction.accounts ?? [];
/** Those of them whose signature it wants. */
function signersOf({ funder, payee }: Swap, instruction: Instruction) {
  const wanted = accountsOf(instruction).filter(({ role }) => role >= 2);
  const has = (of: Address) => wanted.some(({ address }) => address === of);
  return [funder, payee].filter(({ address }) => has(address));
}

/** All that could have changed. */
function everything({ swap, other, wrong }: Scene): string {
  const { world } = swap;
  const listed = [swap, other].flatMap(({ escrow, source, destination }) => [
    escrow.escrow,
    escrow.vault,
    source,
    destination,
  ]);
  const rows = [...wrong.values(), ...listed]
    .filter((each) => each !== world.sender.address)
    .map((each) => [
      each,
      ownerOf(world, each),
      dataOf(world, each)?.toString('base64').slice(0, 400),
      String(world.svm.getBalance(each)),
    ]);
  return JSON.stringify(rows);
}

type Exceptions = {
  /** The accounts that may replace one. */
  readonly allowed?: readonly [index: number, name: string];
  readonly oneMore?: string;
};

/** Tries every replacement, role, repeat and count; gives how many replacements there were. */
async function tryAll(
  scene: Scene,
  right: Instruction,
  { allowed, oneMore = 'BadAccounts' }: Exceptions = {},
): Promise<number> {
  const { world } = scene.swap;
  const start = everything(scene);
  const accounts = accountsOf(right);
  const attempt = async (wrong: Instruction, what: string, expected?: string) => {
    const { error } = await send(world, [wrong], signersOf(scene.swap, wrong));
    assert.notEqual(error, undefined, what);
    if (expected !== undefined) assert.equal(error, expected, what);
  };
  let tried = 0;
  for (const [index, { address: own, role }] of accounts.entries()) {
    const mayBe = (name: string) => allowed?.[0] === index && allowed[1] === name;
    for (const [name, address] of scene.wrong) {
      if (address === own || mayBe(name)) continue;
      await attempt(withAccount(right, index, address), `account ${index} replaced by ${name}`);
      tried += 1;
    }
    if (!mayBe('nothing')) {
      await attempt(withAccount(right, index, undefined), `account ${index} left out`);
    }
    // The runtime itself would count a signer as writable where it pays a fee: here it does not.
    const readOnly = role === 1 ? 'read' : 'sign';
    if (role >= 2) {
      const unsigned = withRole(right, index, role === 2 ? 'read' : 'write');
      await attempt(unsigned, `${index} does not sign`, 'NotSigned');
    }
    if (role % 2 === 1) await attempt(withRole(right, index, readOnly), `${index} read-only`);
    for (const [at, { address }] of accounts.entries()) {
      const repeated = withAccount(right, index, address);
      if (at !== index) await attempt(repeated, `${index} repeats ${at}`, 'BadAccounts');
    }
  }
  const more = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      address: addressNamed(`${at}`),
      role: 0 as const,
    }));
  await attempt({ ...right, accounts: [...accounts, ...more(1)] }, 'one more', oneMore);
  await attempt({ ...right, accounts: [...accounts, ...more(10)] }, 'many more', 'BadAccounts');
  await attempt({ ...right, accounts: [] }, 'none', 'BadAccounts');
  assert.equal(everything(scene), start);
  return tried;
}

/** The same instruction with one account replaced is refused with this error. */
type Refusal = readonly [error: string, index: number, names: readonly string[]];

async function refuseAll(
  { swap, wrong }: Scene,
  right: Instruction,
  rows: readonly Refusal[],
): Promise<void> {
  for (const [error, index, names] of rows) {
    for (const name of names) {
      const replaced = withAccount(right, index, wrong.get(name)!);
      const { error: said } = await send(swap.world, [replaced], signersOf(swap, replaced));
      assert.equal(said, error, name);
    }
  }
}

const pretenders = (who: 'payout' | 'refund') =>
  ['another token', 'other program', 'pretended', 'short'].map((what) => `${what} of ${who}`);

for (const asset of assets) {
  const isSol = asset === 'SOL';
  const ofToken = (...rows: readonly Refusal[]) => (isSol ? [] : rows);

  test(`${asset}: a funding takes no other account in the place of any of its own`, async () => {
    const scene = await createScene(asset, false);
    const { world, terms, escrow, funder, fund: right } = scene.swap;
    // Token accounts of others are refused by the token program, for want of their signature.
    const tried = await tryAll(scene, right);
    assert.ok(tried >= (isSol ? 25 : 120), `${tried} tried`);
    const systems = ['the token program', 'Token-2022', 'the program', 'the clock'].filter(
      (name) => isSol || scene.wrong.get(name) !== escrow.tokenProgram,
    );
    await refuseAll(scene, right, [['WrongSystemProgram', 2, systems]]);
    if (!isSol) {
      const mint = scene.wrong.get('another mint')!;
      const rich = { mint, owner: terms.refund, amount: AMOUNT, name: 'rich' };
      const source = makeHolding(world, { ...rich, program: escrow.tokenProgram });
      const attempt = withAccount(withAccount(right, 4, source), 5, mint);
      assert.equal((await send(world, [attempt], [funder])).error, 'WrongMint');
    }
    await accepted(fund(scene.swap));
  });

  test(`${asset}: a claim takes no other account in the place of any of its own`, async () => {
    const scene = await createScene(asset, true);
    const { world, escrow, claim: right } = scene.swap;
    const tried = await tryAll(scene, right, { allowed: [isSol ? 2 : 6, 'nothing'] });
    assert.ok(tried >= (isSol ? 25 : 110), `${tried} tried`);
    await tryAll(scene, claim(escrow, secret, { refund: false }), { oneMore: 'WrongRefund' });
    const rows = ofToken(
      ['WrongPayout', 1, pretenders('payout')],
      ['WrongVault', 2, ['the other vault']],
      ['WrongMint', 3, ['another mint']],
    );
    await refuseAll(scene, right, rows);
    // The secret of one escrow opens no other.
    const foreign = claim(scene.other.escrow, secret);
    assert.equal((await send(world, [foreign])).error, 'WrongSecret');
    await accepted(send(world, [right]));
  });

  test(`${asset}: a refund takes no other account in the place of any of its own`, async () => {
    const scene = await createScene(asset, true);
    const { swap } = scene;
    expire(swap);
    const tried = await tryAll(
      scene,
      swap.refund,
      isSol ? { allowed: [0, 'the other escrow'] } : {},
    );
    assert.ok(tried >= (isSol ? 15 : 110), `${tried} tried`);
    const rows = ofToken(
      ['WrongRefund', 2, pretenders('refund')],
      ['WrongVault', 3, ['the other vault']],
      ['WrongMint', 4, ['another mint']],
    );
    await refuseAll(scene, swap.refund, rows);
    await accepted(send(swap.world, [swap.refund]));
  });

  test(`${asset}: a release takes no other account in the place of any of its own`, async () => {
    const scene = await createScene(asset, true);
    const { swap } = scene;
    const last = accountsOf(swap.release).length - 1;
    // The payout may release another escrow of its own with the same accounts.
    const own = isSol ? { allowed: [0, 'the other escrow'] as const } : {};
    const tried = await tryAll(scene, swap.release, own);
    assert.ok(tried >= (isSol ? 25 : 120), `${tried} tried`);
    const rows = ofToken(
      ['WrongRefund', 2, pretenders('refund')],
      ['WrongVault', 3, ['the other vault']],
      ['WrongMint', 4, ['another mint']],
    );
    await refuseAll(scene, swap.release, [
      ['WrongRefund', 1, ['the sender']],
      ['WrongPayout', last, ['the sender', 'a stranger without an account']],
      ...rows,
    ]);
    await accepted(release(swap));
  });

  test(`${asset}: who signs for its tokens names an account of its own for them`, async () => {
    if (isSol) return;
    const { swap, wrong } = await createScene(asset, true);
    const { world, escrow, payee, funder } = swap;
    for (const name of pretenders('payout')) {
      const options = { signs: true, destination: wrong.get(name)! };
      const { error } = await send(world, [claim(escrow, secret, options)], [payee]);
      assert.equal(error, 'WrongPayout', name);
    }
    expire(swap);
    for (const name of pretenders('refund')) {
      const attempt = refund(escrow, wrong.get(name)!, { signs: true });
      assert.equal((await send(world, [attempt], [funder])).error, 'WrongRefund', name);
    }
  });

  test(`${asset}: what a claim left is refunded and closed to the funder only`, async () => {
    const scene = await createScene(asset, true);
    const { world, escrow, close } = scene.swap;
    await accepted(send(world, [claim(escrow, secret, { refund: false })]));
    await tryAll(scene, refund(escrow));
    await accepted(send(world, [refund(escrow)]));
    expire(scene.swap);
    const tried = await tryAll(scene, close);
    assert.ok(tried >= (isSol ? 25 : 50), `${tried} tried`);
    await refuseAll(scene, close, [
      ['WrongRefund', 1, ['the payee']],
      ['WrongSystemProgram', 2, ['the token program']],
    ]);
    await accepted(send(world, [close]));
  });
}

test('an account of another program that looks like an escrow is no escrow', async () => {
  const swap = await createSwap('SOL');
  await accepted(fund(swap));
  const fake = addressNamed('fake escrow');
  setAccount(swap.world, fake, TOKEN, dataOf(swap.world, swap.escrow.escrow)!, 10n * AMOUNT);
  for (const verb of ['claim', 'refund'] as const) {
    if (verb === 'refund') expire(swap);
    const { error } = await send(swap.world, [withAccount(swap[verb], 0, fake)]);
    assert.equal(error, 'NotOpen');
  }
});
