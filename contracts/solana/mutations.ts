// Breaks one guard after the other in a copy of the program and sees a test fail.
// A mutation that no test notices is printed, and the exit status is 1.
//
//   node contracts/solana/mutations.ts [part of a name]     about 5 s for each mutation

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile, discard, findToolchain, type Prepared, prepare } from './build.ts';
import { isEntry } from './entry.ts';

const here = import.meta.dirname;
const RUN_MS = 5 * 60_000;
/** The quick and telling ones first: the first that fails ends the search. */
const SUITES = ['rules', 'close', 'accounts', 'tokens', 'rent', 'money'] as const;

type Mutation = { readonly file: string; readonly find: string; readonly put: string };

const at = (file: string) => (find: string, put: string) => ({ file: `${file}.rs`, find, put });
const [lib, fund, settle, terms] = [at('lib'), at('fund'), at('settle'), at('terms')];
const [token, system, syscalls] = [at('token'), at('system'), at('syscalls')];
const [account, close] = [at('account'), at('close')];

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'any head of a funding': lib('verb == FUND', 'head & 0xff == FUND'),
  'any length of a funding': lib(
    'verb == FUND && data_len == TERMS_LEN',
    'verb == FUND && data_len >= TERMS_LEN',
  ),
  'any head of a claim': lib('verb == CLAIM', 'head & 0xff == CLAIM'),
  'a longer claim': lib('data_len == CLAIM_LEN', 'data_len >= CLAIM_LEN'),
  'a shorter claim': lib('data_len == CLAIM_LEN', 'data_len <= CLAIM_LEN'),
  'any head of a refund': lib('head == REFUND', 'head & 0xff == REFUND'),
  'a longer refund': lib('head == REFUND && data_len == HEAD_LEN', 'head == REFUND'),
  'any head of a closing': lib('verb == CLOSE', 'head & 0xff == CLOSE'),
  'any length of a closing': lib('verb == CLOSE && data_len == TERMS_LEN', 'verb == CLOSE'),
  'too many accounts': lib('count > MOST_ACCOUNTS as u64', 'false'),
  'repeated accounts': account('(*header).duplicate_of != NOT_A_DUPLICATE', 'false'),

  'any number of accounts in a funding': fund('call.count != if', 'false && call.count != if'),
  'a funding without a signature': fund('!funder.is_signer()', 'false'),
  'a funding by anyone': fund('!funder.key().is(&terms.refund)', 'false'),
  'any system program': fund('!program.key().is_zero()', 'false'),
  'terms unchecked': fund('terms.check(now())?;', ''),
  'any address': fund('!is_the_address(escrow.key(), &hash, bump, owner)', 'false'),
  'funding twice': fund('!escrow.owner().is_zero()', 'false'),
  'no amount': fund('.saturating_add(terms.amount)', ''),
  'an amount that wraps': fund('.saturating_add(terms.amount)', '.wrapping_add(terms.amount)'),
  'any mint': fund('check_mint(&mint, &terms.mint, &token)?;', ''),
  'no rent for the vault': fund('rent.minimum(STATE_LEN) + vault_rent', 'rent.minimum(STATE_LEN)'),
  'another amount of tokens': fund('funder, terms.amount)', 'funder, terms.amount - 1)'),
  'gain unchecked': fund('- before != terms.amount', '- before != terms.amount && false'),
  'gain may be less': fund('- before != terms.amount', '- before > terms.amount'),
  'gain may be more': fund('- before != terms.amount', '- before < terms.amount'),
  'balance, not gain': fund(
    'amount_of(&vault.account) - before !=',
    'amount_of(&vault.account) !=',
  ),
  'the vault forgotten': fund(
    'keep(&escrow, bump, terms, vault.key())',
    'keep(&escrow, bump, terms, &Key::ZERO)',
  ),
  'the bump forgotten': fund('OPEN | (bump as u64) << 8', 'OPEN'),

  'no amount in the terms': terms('self.amount == 0 || ', ''),
  'no hashlock': terms('self.hashlock.is_zero() || ', ''),
  'no payout': terms(' || self.payout.is_zero()', ''),
  'the funder as payout': terms('self.payout.is(&self.refund)', 'false'),
  'timelock too near': terms('self.timelock < now + TIMELOCK_LEAST_SECONDS', 'false'),
  'timelock a second too near': terms(
    '< now + TIMELOCK_LEAST_SECONDS',
    '< now + TIMELOCK_LEAST_SECONDS - 1',
  ),
  'timelock a second too strict': terms('< now + TIMELOCK_LEAST', '<= now + TIMELOCK_LEAST'),
  'timelock too far': terms('self.timelock > now + TIMELOCK_MOST_SECONDS', 'false'),
  'timelock a second too far': terms(
    '> now + TIMELOCK_MOST_SECONDS',
    '> now + TIMELOCK_MOST_SECONDS + 1',
  ),
  'timelock a second less far': terms('> now + TIMELOCK_MOST', '>= now + TIMELOCK_MOST'),
  'an unsigned timelock': terms(
    'self.timelock < now + TIMELOCK_LEAST_SECONDS',
    '(self.timelock as u64) < (now + TIMELOCK_LEAST_SECONDS) as u64',
  ),
  'the address unchecked': terms('!address(hash, &bump, program).is(escrow)', 'false'),
  'any bump': terms('while higher < u8::MAX', 'while false && higher < u8::MAX'),
  'the next bump unchecked': terms(
    'let mut higher = bump;',
    'let mut higher = bump.saturating_add(1);',
  ),

  'escrows of other programs': settle('!escrow.owner().is(program) || ', ''),
  'tombstones are escrows': settle(' || escrow.data_len() != STATE_LEN', ''),
  'claim after a claim': settle('if state.head as u8 != OPEN as u8', 'if false'),
  'claim ever': settle('now() >= state.terms.timelock', 'false'),
  'claim in the timelock second': settle('now() >= state', 'now() > state'),
  'claim a second less': settle(
    'now() >= state.terms.timelock',
    'now() + 1 >= state.terms.timelock',
  ),
  'any secret': settle('!sha256(&[Bytes::of(secret)]).is(&state.terms.hashlock)', 'false'),
  'any number of accounts in a claim': settle(
    'call.count != without_refund && call.count != without_refund + 1',
    'false',
  ),
  'claim of tokens without the payout': settle(
    'if is_sol { 2 } else { 6 };',
    'if is_sol { 2 } else { 5 };',
  ),
  'claim without accounts': settle(
    'seventh] = call.accounts;\n    if call.count == 0',
    'seventh] = call.accounts;\n    if false',
  ),
  'claim to anyone': settle('!payout.key().is(&state.terms.payout)', 'false'),
  'claim of SOL to anyone': settle(
    '!payout.key().is(&state.terms.payout)',
    '!is_sol && !payout.key().is(&state.terms.payout)',
  ),
  'the signature of anyone': settle(
    '!payout.key().is(&state.terms.payout)',
    'is_sol && !payout.key().is(&state.terms.payout)',
  ),
  'any account of the payout': settle('if !payout.is_signer() && ', 'if false && '),
  'the associated account only': settle('!payout.is_signer() && ', ''),
  'claim of more SOL': settle(
    'let amount = state.terms.amount;',
    'let amount = state.terms.amount + 1;',
  ),
  'claim of tokens to anyone': settle('!keeps(&second, &token, mint_key, owner)', 'false'),
  'claim to the funder': settle(
    '(&state.terms.mint, &state.terms.payout)',
    '(&state.terms.mint, &state.terms.refund)',
  ),
  'less than the amount': settle('held < amount || ', ''),
  'more than the amount': settle('held < amount', 'held != amount'),
  'arrival unchecked': settle(' || arrived != held', ''),
  'a claim leaves no mark': settle('state.head += CLAIMED - OPEN;', ''),
  'a claim marked as something else': settle(
    'state.head += CLAIMED - OPEN',
    'state.head += CLAIMED',
  ),
  'rent to anyone': settle(
    '-> Result<(), Error> {\n    if !refund.key().is(&state.terms.refund)',
    '-> Result<(), Error> {\n    if false',
  ),
  'a refund to anyone': settle(
    'bury(&escrow, state, &refund);\n    }\n    if !refund.key().is(&state.terms.refund)',
    'bury(&escrow, state, &refund);\n    }\n    if false',
  ),
  'refund ever': settle('if is_open && is_early', 'if false'),
  'refund a second early': settle(
    'now() < state.terms.timelock',
    'now() + 1 < state.terms.timelock',
  ),
  'refund a second late': settle('now() < state.terms.timelock', 'now() <= state.terms.timelock'),
  'what is left waits': settle('if is_open && is_early', 'if is_early'),
  'what is left goes early': settle(
    'if is_early {\n        return bury',
    'if false {\n        return bury',
  ),
  'a refund leaves a tombstone': settle(
    'if is_early {\n        return bury',
    'if true {\n        return bury',
  ),
  'refund without accounts': settle(
    'token, _] = call.accounts;\n    if call.count == 0',
    'token, _] = call.accounts;\n    if false',
  ),
  'any number of accounts in a refund': settle(
    'call.count != if has_tokens',
    'false && call.count != if has_tokens',
  ),
  'refund of tokens to anyone': settle(
    '!keeps(&destination, &token, &state.terms.mint, &state.terms.refund)',
    'false',
  ),
  'refund of tokens to the payout': settle(
    '&state.terms.mint, &state.terms.refund',
    '&state.terms.mint, &state.terms.payout',
  ),
  'any vault': settle('!vault.key().is(&state.vault)', 'false'),
  'any mint at the end': settle('!mint.key().is(&state.terms.mint)', 'false'),
  'any token program at the end': settle('!vault.owner().is(program.key())', 'false'),
  'no tombstone': settle(
    'let spare = escrow.lamports().saturating_sub(rent_rule().minimum(TOMBSTONE_LEN));',
    'let spare = escrow.lamports();',
  ),
  'rent kept': settle('minimum(TOMBSTONE_LEN)', 'minimum(STATE_LEN)'),
  'a tombstone of full size': settle('escrow.shrink(TOMBSTONE_LEN);', ''),
  'an empty tombstone': settle('escrow.shrink(TOMBSTONE_LEN)', 'escrow.shrink(0)'),

  'a closing by any number of accounts': close('call.count != ACCOUNTS', 'false'),
  'a closing by any system program': close('!program.key().is_zero()', 'false'),
  'closing ever': close('now() < terms.timelock', 'false'),
  'closing a second early': close('now() < terms.timelock', 'now() + 1 < terms.timelock'),
  'closing a second late': close('now() < terms.timelock', 'now() <= terms.timelock'),
  'closing any address': close('!address(&hash, &bump, owner).is(escrow.key())', 'false'),
  'closing to anyone': close('!refund.key().is(&terms.refund)', 'false'),
  'closing what is open': close('escrow.byte(0) == OPEN as u8', 'false'),
  'closing nothing': close('escrow.lamports() == 0', 'false'),
  'what was sent by mistake stays': close('.return_all()', ''),
  'closed accounts keep data': account('self.shrink(0);', ''),
  'closed accounts keep their program': account('unsafe { (*self.0).owner = Key::ZERO }', ''),
  'closing gives nothing': account('into.set_lamports(into.lamports() + self.lamports());', ''),
  'closing leaves all': account('self.set_lamports(0);', ''),

  'any associated account': token('    .is(account.key())', '    .is(account.key()) || true'),
  'any mint of it': token(
    'Bytes::of(mint),\n        Bytes::of(&bump)',
    'Bytes::of(owner),\n        Bytes::of(&bump)',
  ),
  'any token program': token(
    '!program.key().is(&TOKEN) && !program.key().is(&TOKEN_2022)',
    'false',
  ),
  'no Token-2022': token(' && !program.key().is(&TOKEN_2022)', ''),
  'another mint': token('!mint.key().is(agreed) || ', ''),
  'a short mint': token(' || mint.data_len() < MINT_LEN', ''),
  'a mint of another program': token('!mint.owner().is(program.key())', 'false'),
  'no extension read': token('while at + 4 <= mint.data_len()', 'while false'),
  'one extension read': token('at += 4 + word16(mint, at + 2);', 'break;'),
  'the last extension unread': token('at + 4 <= mint.data_len()', 'at + 4 < mint.data_len()'),
  'lengths of one byte': token('word16(mint, at + 2)', 'mint.byte(at + 2) as u64'),
  'zeros are an extension': token('if kind == 0 {', 'if false {'),
  'high types wrap': token(
    'kind > 63 || (SAFE_EXTENSIONS >> kind) & 1 == 0',
    '(SAFE_EXTENSIONS >> (kind & 63)) & 1 == 0',
  ),
  'types of one byte': token(
    'account.byte(at) as u64 | (account.byte(at + 1) as u64) << 8',
    'account.byte(at) as u64',
  ),
  'token data of any program': token('account.owner().is(program.key())\n        && ', ''),
  'token data of any length': token('&& account.data_len() >= ACCOUNT_LEN\n        ', ''),
  'tokens of any mint': token('&& account.key_at(ACCOUNT_MINT).is(mint)\n        ', ''),
  'tokens of any owner': token('\n        && account.key_at(ACCOUNT_OWNER).is(owner)', ''),
  'dust stays': token('&self.escrow, held, Some', '&self.escrow, held.min(3_000_000_000), Some'),
  'the vault stays open': token('&[CLOSE_ACCOUNT << 56], 1);', '&[17u64 << 56], 1);'),

  'lamports sent ahead block a funding': system('self.escrow.lamports() == 0', 'true'),
  'lamports sent ahead count': system(
    '&[TRANSFER << 32, lamports]',
    '&[TRANSFER << 32, lamports - self.escrow.lamports()]',
  ),
  'any rent threshold': syscalls('exponent + has_fraction as u64', '0'),
  'a fraction is forgotten': syscalls(' + has_fraction as u64', ''),
  'rent of nothing': syscalls('lamports.max(1)', 'lamports'),
};

/** A mutation must change one place, or it tells nothing. */
function requireOnce([name, { file, find }]: readonly [string, Mutation]): void {
  const places = readFileSync(join(here, 'src', file), 'utf8').split(find).length - 1;
  if (places !== 1) throw new Error(`"${name}" stands ${places} times in ${file}`);
}

/** The first suite that fails on the mutated program, or null. */
function noticedBy(program: string): string | null {
  const env = { ...process.env, PARLEY_ESCROW_SO: program };
  for (const suite of SUITES) {
    const args = ['--test', '--test-timeout=60000', join(here, `${suite}.test.ts`)];
    const { status } = spawnSync(process.execPath, args, { env, timeout: RUN_MS, stdio: 'ignore' });
    if (status !== 0) return suite;
  }
  return null;
}

function tryOne(prepared: Prepared, name: string, { file, find, put }: Mutation): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mutation-'));
  try {
    cpSync(join(here, 'src'), folder, { recursive: true });
    const source = readFileSync(join(folder, file), 'utf8');
    if (source.split(find).length !== 2)
      throw new Error(`"${name}" does not stand once in ${file}`);
    writeFileSync(
      join(folder, file),
      source.replace(find, () => put),
    );
    const program = join(folder, 'mutated.so');
    writeFileSync(program, compile(prepared, folder, 'allow'));
    const suite = noticedBy(program);
    console.log(`${suite === null ? 'NOT NOTICED' : suite.padEnd(11)} ${name}`);
    return suite !== null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function main(): void {
  const toolchain = findToolchain();
  if (typeof toolchain === 'string') throw new Error(toolchain);
  const part = process.argv[2] ?? '';
  const chosen = Object.entries(MUTATIONS).filter(([name]) => name.includes(part));
  chosen.forEach(requireOnce);
  const prepared = prepare(toolchain);
  try {
    const noticed = chosen.filter(([name, mutation]) => tryOne(prepared, name, mutation)).length;
    console.log(`${noticed} of ${chosen.length} mutations noticed`);
    if (noticed < chosen.length || noticed === 0) process.exitCode = 1;
  } finally {
    discard(prepared);
  }
}

if (isEntry(import.meta.url)) main();
