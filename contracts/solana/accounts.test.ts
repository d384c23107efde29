// Every account of every instruction, replaced by every other that might pass for it: nothing
// works, and nothing moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, Instruction } from '@solana/kit';
import {
  bytesOf,
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
  assets,
  createSwap,
  fund,
  type Swap,
  secret,
  swapIn,
} from './testing/swaps.ts';
import { addressNamed, makeHolding, makeMint } from './testing/tokens.ts';
import { dataOf, NOW, ownerOf, person, send, setAccount, setNow } from './testing/vm.ts';

const otherSecret = sha256(Buffer.from('another secret'));
const CLOCK = 'SysvarC1ock11111111111111111111111111111111' as Address;

type Scene = {
  readonly swap: Swap;
  /** An escrow of the same people and asset, with a hashlock of its own, funded as well. */
  readonly other: Swap;
  /** Addresses that someone might put in the place of an account. */
  readonly wrong: ReadonlyMap<string, Address>;
};

async function scene(asset: Asset, isFunded: boolean): Promise<Scene> {
  const swap = await createSwap(asset);
  const other = await swapIn(swap.world, asset, { hashlock: sha256(otherSecret) });
  assert.equal((await fund(other)).error, undefined);
  if (isFunded) assert.equal((await fund(swap)).error, undefined);
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
  const { world, terms, escrow, payee, funder } = swap;
  const program = escrow.tokenProgram;
  const otherProgram = program === TOKEN ? TOKEN_2022 : TOKEN;
  const mint = makeMint(world, 'another mint', program);
  const owners = [payee, funder, world.sender].map(({ address }) => address);
  const hold = (owner: Address, name: string, of = mint, by = program) =>
    makeHolding(world, { mint: of, owner, name, program: by, amount: AMOUNT });
  // Right in every byte, but nobody's token account.
  const pretend = (owner: Address): Address => {
    const real = hold(owner, 'pretended', terms.mint);
    const at = addressNamed(`pretended by another program ${owner}`);
    setAccount(world, at, PROGRAM, dataOf(world, real)!);
    return at;
  };
  return [
    ['the other vault', other.escrow.vault],
    ['another mint', mint],
    ['tokens of the sender', hold(world.sender.address, '', terms.mint)],
    ...owners.map((owner, at) => [`another token ${at}`, hold(owner, '')] as const),
    ...owners.map(
      (owner, at) => [`other program ${at}`, hold(owner, '2', terms.mint, otherProgram)] as const,
    ),
    ...[payee, funder].map(({ address }, at) => [`pretended ${at}`, pretend(address)] as const),
  ];
}

const accountsOf = (instruction: Instruction) => instruction.accounts ?? [];

/** All that could have changed. */
function everything({ swap, other, wrong }: Scene): string {
  const listed = [...wrong.values(), swap, other].flatMap((each) =>
    typeof each === 'string'
      ? [each]
      : [each.escrow.escrow, each.escrow.vault, each.source, each.destination],
  );
  const { world } = swap;
  const rows = listed
    .filter((each) => each !== world.sender.address)
    .map((each) => [
      each,
      ownerOf(world, each),
      dataOf(world, each)?.toString('base64').slice(0, 400),
      String(world.svm.getBalance(each)),
    ]);
  return JSON.stringify(rows);
}

/** Tries every replacement; gives how many there were. */
async function tryAll(
  set: Scene,
  instruction: Instruction,
  mayBe: (index: number, name: string) => boolean,
): Promise<number> {
  const { world, funder } = set.swap;
  const before = everything(set);
  let tried = 0;
  for (const [index, account] of accountsOf(instruction).entries()) {
    for (const [name, address] of set.wrong) {
      if (address === account.address || mayBe(index, name)) continue;
      const attempt = withAccount(instruction, index, address);
      const isSigned = accountsOf(attempt).some(({ role }) => role >= 2);
      const { error } = await send(world, [attempt], isSigned ? [funder] : []);
      assert.notEqual(error, undefined, `account ${index} replaced by ${name}`);
      tried += 1;
    }
    const missing = withAccount(instruction, index, undefined);
    const isLast = index === accountsOf(instruction).length - 1;
    if (!(isLast && mayBe(index, 'nothing'))) {
      const isSigned = accountsOf(missing).some(({ role }) => role >= 2);
      const { error } = await send(world, [missing], isSigned ? [funder] : []);
      assert.notEqual(error, undefined, `account ${index} left out`);
    }
  }
  assert.equal(everything(set), before);
  return tried;
}

async function tryRolesAndRepeats(set: Scene, instruction: Instruction): Promise<void> {
  const { world, funder } = set.swap;
  const before = everything(set);
  const accounts = accountsOf(instruction);
  const attempt = async (wrong: Instruction, what: string, expected?: string) => {
    const isSigned = accountsOf(wrong).some(({ role }) => role >= 2);
    const { error } = await send(world, [wrong], isSigned ? [funder] : []);
    assert.notEqual(error, undefined, what);
    if (expected !== undefined) assert.equal(error, expected, what);
  };
  for (const [index, { role }] of accounts.entries()) {
    // The runtime itself would count the funder as writable where it pays a fee: here it does not.
    if (role === 1)
      await attempt(withRole(instruction, index, 'read'), `account ${index} read-only`);
    if (role === 3)
      await attempt(withRole(instruction, index, 'sign'), `account ${index} read-only`);
    for (const [at, { address }] of accounts.entries()) {
      if (at === index) continue;
      await attempt(
        withAccount(instruction, index, address),
        `${index} repeats ${at}`,
        'BadAccounts',
      );
    }
  }
  const more = { address: CLOCK, role: 0 } as const;
  await attempt({ ...instruction, accounts: [...accounts, more] }, 'one more', 'BadAccounts');
  const many = Array.from({ length: 10 }, (_, at) => ({ address: addressNamed(`${at}`), role: 0 }));
  await attempt({ ...instruction, accounts: [...accounts, ...many] }, 'many more', 'BadAccounts');
  await attempt({ ...instruction, accounts: [] }, 'none', 'BadAccounts');
  assert.equal(everything(set), before);
}

for (const asset of assets) {
  const isSol = asset === 'SOL';

  test(`${asset}: a funding takes no other account in the place of any of its own`, async () => {
    const set = await scene(asset, false);
    // Token accounts of others are refused by the token program, for want of their signature.
    const tried = await tryAll(set, set.swap.fund, () => false);
    assert.ok(tried >= (isSol ? 25 : 120), `${tried} tried`);
    await tryRolesAndRepeats(set, set.swap.fund);
    assert.equal((await fund(set.swap)).error, undefined);
  });

  test(`${asset}: a claim takes no other account in the place of any of its own`, async () => {
    const set = await scene(asset, true);
    const last = isSol ? 2 : 6;
    const tried = await tryAll(
      set,
      set.swap.claim,
      (at, name) => at === last && name === 'nothing',
    );
    assert.ok(tried >= (isSol ? 25 : 110), `${tried} tried`);
    await tryRolesAndRepeats(set, set.swap.claim);
    const { escrow } = set.swap;
    const bare = claim(escrow, secret, { refund: false });
    await tryAll(set, bare, () => false);
    // The secret of one escrow opens no other.
    const foreign = claim(set.other.escrow, secret);
    assert.equal((await send(set.swap.world, [foreign])).error, 'WrongSecret');
    assert.equal((await send(set.swap.world, [set.swap.claim])).error, undefined);
  });

  test(`${asset}: a refund takes no other account in the place of any of its own`, async () => {
    const set = await scene(asset, true);
    setNow(set.swap.world, set.swap.terms.timelock);
    const tried = await tryAll(
      set,
      set.swap.refund,
      (at, name) => at === 0 && name === 'the other escrow' && isSol,
    );
    assert.ok(tried >= (isSol ? 15 : 110), `${tried} tried`);
    await tryRolesAndRepeats(set, set.swap.refund);
    assert.equal((await send(set.swap.world, [set.swap.refund])).error, undefined);
  });
}

for (const asset of assets) {
  test(`${asset}: a closing takes no other account in the place of any of its own`, async () => {
    const set = await scene(asset, true);
    const { world, terms, claim: claiming, close: closing } = set.swap;
    assert.equal((await send(world, [claiming])).error, undefined);
    setNow(world, terms.timelock);
    const tried = await tryAll(set, closing, () => false);
    assert.ok(tried >= (asset === 'SOL' ? 25 : 50), `${tried} tried`);
    await tryRolesAndRepeats(set, closing);
    const toOther = withAccount(closing, 1, set.swap.payee.address);
    assert.equal((await send(world, [toOther])).error, 'WrongRefund');
    const falseSystem = withAccount(closing, 2, TOKEN);
    assert.equal((await send(world, [falseSystem])).error, 'WrongSystemProgram');
    assert.equal((await send(world, [closing])).error, undefined);
  });
}

test('what a claim left is refunded to the funder only', async () => {
  for (const asset of assets) {
    const set = await scene(asset, true);
    const bare = claim(set.swap.escrow, secret, { refund: false });
    assert.equal((await send(set.swap.world, [bare])).error, undefined);
    const rest = refund(set.swap.escrow);
    await tryAll(set, rest, () => false);
    await tryRolesAndRepeats(set, rest);
    assert.equal((await send(set.swap.world, [rest])).error, undefined);
  }
});

test('an account of another program that looks like an escrow is no escrow', async () => {
  const { swap } = await scene('SOL', true);
  const fake = addressNamed('fake escrow');
  const data = dataOf(swap.world, swap.escrow.escrow)!;
  setAccount(swap.world, fake, TOKEN, data, 10n * AMOUNT);
  const claiming = withAccount(swap.claim, 0, fake);
  assert.equal((await send(swap.world, [claiming])).error, 'NotOpen');
  setNow(swap.world, NOW + 100_000n);
  const refunding = withAccount(swap.refund, 0, fake);
  assert.equal((await send(swap.world, [refunding])).error, 'NotOpen');
});

test('a false system program gets neither signature', async () => {
  for (const asset of assets) {
    const { swap } = await scene(asset, false);
    for (const program of [TOKEN, TOKEN_2022, PROGRAM, addressNamed('false system program')]) {
      if (accountsOf(swap.fund).some(({ address }) => address === program)) continue;
      const attempt = withAccount(swap.fund, 2, program);
      assert.equal((await send(swap.world, [attempt], [swap.funder])).error, 'WrongSystemProgram');
    }
  }
});

test('another mint beside the right vault is told by its address', async () => {
  for (const asset of ['SPL Token', 'Token-2022'] as const) {
    const { swap, wrong } = await scene(asset, true);
    const mint = wrong.get('another mint')!;
    const claiming = withAccount(swap.claim, 3, mint);
    assert.equal((await send(swap.world, [claiming])).error, 'WrongMint');
    setNow(swap.world, swap.terms.timelock);
    const refunding = withAccount(swap.refund, 4, mint);
    assert.equal((await send(swap.world, [refunding])).error, 'WrongMint');
  }
});

test('the vault of another escrow is told by its address', async () => {
  for (const asset of ['SPL Token', 'Token-2022'] as const) {
    const { swap, other } = await scene(asset, true);
    const claiming = withAccount(swap.claim, 2, other.escrow.vault);
    assert.equal((await send(swap.world, [claiming])).error, 'WrongVault');
    setNow(swap.world, swap.terms.timelock);
    const refunding = withAccount(swap.refund, 3, other.escrow.vault);
    assert.equal((await send(swap.world, [refunding])).error, 'WrongVault');
  }
});

test('a funding in tokens of another mint than the agreed one is refused', async () => {
  for (const asset of ['SPL Token', 'Token-2022'] as const) {
    const { swap, wrong } = await scene(asset, false);
    const mint = wrong.get('another mint')!;
    const program = swap.escrow.tokenProgram;
    const owner = swap.funder.address;
    const source = makeHolding(swap.world, { mint, owner, amount: AMOUNT, program, name: 'rich' });
    const attempt = withAccount(withAccount(swap.fund, 4, source), 5, mint);
    assert.equal((await send(swap.world, [attempt], [swap.funder])).error, 'WrongMint');
  }
});

test('what is no token account of the receiver, in this mint and program, is told', async () => {
  for (const asset of ['SPL Token', 'Token-2022'] as const) {
    const { swap, wrong } = await scene(asset, true);
    const { world, escrow, terms } = swap;
    const short = (owner: Address): Address => {
      const at = addressNamed(`short ${owner}`);
      const data = Buffer.concat([bytesOf(terms.mint), bytesOf(owner), Buffer.alloc(36)]);
      setAccount(world, at, escrow.tokenProgram, data);
      return at;
    };
    const pretenders = (index: number, owner: Address) => [
      short(owner),
      ...['another token', 'other program', 'pretended'].map(
        (name) => wrong.get(`${name} ${index}`)!,
      ),
    ];
    for (const each of pretenders(0, terms.payout)) {
      const attempt = withAccount(swap.claim, 1, each);
      assert.equal((await send(world, [attempt])).error, 'WrongPayout');
    }
    setNow(world, terms.timelock);
    for (const each of pretenders(1, terms.refund)) {
      const attempt = withAccount(swap.refund, 2, each);
      assert.equal((await send(world, [attempt])).error, 'WrongRefund');
    }
  }
});
